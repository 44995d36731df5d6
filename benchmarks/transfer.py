"""How long whole collections take to leave and to come back, and how much memory that needs.

    python benchmarks/transfer.py [RECORDS]

Makes a collection in a SQLite file, of whose records every tenth relates to the one before it;
exports it by the command, imports the export into an empty file, and imports it there again. Each
command is a process of its own; its largest resident size is what the kernel says.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from memories.principal import SCOPES, Principal
from memories.stores.port_relations import RelationRecord
from memories.stores.sqlite import SqliteStore
from seed import USER, seed

RECORDS = 100_000
EVERY = 10
_AT = "2026-11-01T00:00:00.000000Z"


class Run(NamedTuple):
    """How long a command took, in seconds, and its largest size, in MB."""

    seconds: float
    megabytes: float
    said: str


def make(path: Path, records: int) -> None:
    """Make the collection."""
    seed(path, records)
    principal = Principal(USER, "local", frozenset(SCOPES))
    store = SqliteStore(path)
    store.relations.add(
        [
            (principal, RelationRecord(number, "follows", number - 1, 1.0, _AT, "local"))
            for number in range(EVERY + 1, records, EVERY)
        ]
    )
    store.close()


def run(*arguments: str) -> Run:
    command = [sys.executable, "-m", "local.cli", *arguments]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, said
    # In kilobytes, on Linux.
    return Run(time.perf_counter() - started, usage.ru_maxrss / 1024, said.strip())


def main() -> None:
    records = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    with TemporaryDirectory() as folder:
        one, two, file = (Path(folder) / name for name in ("one.db", "two.db", "export.jsonl"))
        # In a process of its own: those that this one starts would count its size as theirs.
        with ProcessPoolExecutor(1, get_context("spawn")) as maker:
            maker.submit(make, one, records).result()
        runs = {
            "export": run("export", str(file), "--data", str(one)),
            "import": run("import", str(file), "--data", str(two)),
            "import again": run("import", str(file), "--data", str(two)),
            "export of the import": run("export", f"{file}.2", "--data", str(two)),
        }
        size = file.stat().st_size / 1_000_000
        assert file.read_bytes() == Path(f"{file}.2").read_bytes()
    print(f"{records:,} records, {size:.1f} MB of lines\n")
    print(f"{'':22}{'seconds':>10}{'records/s':>12}{'peak MB':>10}")
    for name, (seconds, megabytes, _) in runs.items():
        print(f"{name:22}{seconds:10.1f}{records / seconds:12,.0f}{megabytes:10.0f}")


if __name__ == "__main__":
    main()

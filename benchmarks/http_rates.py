"""How many requests a second the service answers, beside a bare route that does the same SQL.

Both run as processes of their own on files with the same records. Rounds alternate between the
two, and a figure is the median of its rounds. From the root: ``python benchmarks/http_rates.py``.
"""

import argparse
import json
import os
import platform
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import uvloop

import load
import seed

CLIENTS = (1, 16)
MOST_REQUESTS = 300
MOST_SECONDS = 1.5
PLAIN = "page"

_SERVICE = ("-m", "local.cli", "serve", "--port", "0", "--data")
_BARE = (str(Path(__file__).with_name("bare_route.py")),)
_PACKAGES = ("starlette", "uvicorn", "httptools", "uvloop", "pydantic", "aws-lambda-powertools")


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    requests: Sequence[bytes]
    status: int = 200


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. ``over_plain`` is the time of a page over that of the plain one."""

    operation: str
    clients: int
    service: float
    bare: float
    ratio: float
    over_plain: float | None


def operations(records: int) -> tuple[list[Operation], list[Operation]]:
    """Return those that leave the number of records as it is, and those that do not."""
    source = random.Random(11)
    page = "/memories?sort=updated_at"
    # Ids that are multiples of 40 were retired by the seed.
    ids = [n for n in source.sample(range(1, records + 1), min(records, 2000)) if n % 40]
    creates = [{"content": seed.content(source), "tags": ["tools", "style"]} for _ in range(500)]
    return [
        Operation(PLAIN, [load.request("GET", page)]),
        Operation("page, q rare", [load.request("GET", f"{page}&q={seed.RARE}")]),
        Operation("page, q common", [load.request("GET", f"{page}&q={seed.COMMON}")]),
        # Each text is asked for so seldom that its total is no longer remembered.
        Operation("page, q new", [load.request("GET", f"{page}&q={q}") for q in _parts()]),
        Operation("page, q absent", [load.request("GET", f"{page}&q={seed.ABSENT}")]),
        Operation("read one", [load.request("GET", f"/memories/{n}") for n in ids]),
    ], [Operation("create", [load.request("POST", "/memories", body) for body in creates], 201)]


def _parts() -> list[str]:
    """Return many texts that a third of the records hold, each percent-encoded."""
    phrase = seed.COMMON_PHRASE
    parts = {phrase[n : n + size] for size in (6, 7, 8) for n in range(len(phrase) - size + 1)}
    return [quote(part) for part in sorted(parts) if part == part.strip()]


@contextmanager
def server(command: Sequence[str], data: Path) -> Iterator[int]:
    """Run a server on ``data`` and yield its port, which its first line of output ends with."""
    process = subprocess.Popen(
        [sys.executable, *command, str(data)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        port = urlsplit(process.stdout.readline().split()[-1]).port
        assert port is not None
        yield port
    finally:
        process.terminate()
        process.wait(timeout=20)


async def measure(
    groups: Sequence[Sequence[Operation]], service: int, bare: int, rounds: int
) -> list[Row]:
    """Return the table. The operations of a group take turns within each round."""
    rates: dict[tuple[str, int, int], list[float]] = {}
    for group in groups:
        # The first round is to warm up.
        for turn in range(rounds + 1):
            for clients in CLIENTS:
                for operation in group:
                    for port in (service, bare):
                        outcome = await load.run(port, _load(operation, clients))
                        if turn:
                            rates.setdefault((operation.name, clients, port), []).append(
                                outcome.rate
                            )
    medians = {key: statistics.median(found) for key, found in rates.items()}
    return [
        _row(medians, operation.name, clients, service, bare)
        for clients in CLIENTS
        for group in groups
        for operation in group
    ]


def _load(operation: Operation, clients: int) -> load.Load:
    return load.Load(operation.requests, operation.status, clients, MOST_REQUESTS, MOST_SECONDS)


def _row(
    medians: dict[tuple[str, int, int], float], name: str, clients: int, service: int, bare: int
) -> Row:
    rate, bare_rate = medians[name, clients, service], medians[name, clients, bare]
    plain = medians[PLAIN, clients, service]
    return Row(
        operation=name,
        clients=clients,
        service=round(rate, 1),
        bare=round(bare_rate, 1),
        ratio=round(rate / bare_rate, 3),
        over_plain=round(plain / rate, 2) if " q " in name else None,
    )


def conditions(records: int, rounds: int) -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "records": records,
        "rounds": rounds,
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{name: version(name) for name in _PACKAGES},
    }


def table(rows: Sequence[Row]) -> str:
    lines = [
        f"{'operation':<16}{'clients':>8}{'service/s':>11}{'bare/s':>9}{'ratio':>8}{'q/plain':>9}"
    ]
    for row in rows:
        over_plain = "" if row.over_plain is None else f"{row.over_plain:.2f}"
        lines.append(
            f"{row.operation:<16}{row.clients:>8}{row.service:>11.0f}{row.bare:>9.0f}"
            f"{row.ratio:>8.2f}{over_plain:>9}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the table there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ours, bares = Path(folder, "service.db"), Path(folder, "bare.db")
        seed.seed(ours, options.records)
        shutil.copy(ours, bares)
        with server(_SERVICE, ours) as service, server(_BARE, bares) as bare:
            rows = uvloop.run(measure(operations(options.records), service, bare, options.rounds))
    circumstances = conditions(options.records, options.rounds)
    print(", ".join(f"{name} {value}" for name, value in circumstances.items()))
    print(table(rows))
    if options.json:
        result = {"conditions": circumstances, "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""``memories export`` and ``memories import``: whole memories, to and from a file."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from local.client import Client
from local.commands.options import Defaults, Subparsers, add_client, added, opened_client
from local.importing.files import STANDARD, opened_source
from local.importing.run import ImportRun
from local.importing.source import Remark
from local.progress import progress
from local.tables import on_a_line, print_json
from local.told import CannotDo
from memories.config import Settings


def add(commands: Subparsers, defaults: Defaults) -> None:
    parser = added(commands, "export", "write all memories, a line of JSON each", _export)
    parser.add_argument(
        "file", nargs="?", default=STANDARD, help="where to; the standard output unless it is said"
    )
    add_client(parser, defaults)

    parser = added(
        commands,
        "import",
        "record the memories of a file: an export of memories or of mcp-memory-service, or the "
        "file of the reference knowledge-graph server",
        _import,
    )
    parser.add_argument("file", help="what to read; - is the standard input")
    add_client(parser, defaults)


def _export(settings: Settings, json: bool, file: str, **options: Any) -> None:
    count = 0
    with (
        opened_client(settings, **options) as client,
        _written(file) as written,
        progress("exporting", None) as advance,
    ):
        for lines in _pages(client):
            written.writelines(f"{line}\n".encode() for line in lines)
            advance(len(lines))
            count += len(lines)
    if json and file != STANDARD:
        print_json({"exported": count})
    else:
        print(f"exported {count} memories", file=sys.stderr)


def _pages(client: Client) -> Iterator[Sequence[str]]:
    after: int | None = 0
    while after is not None:
        lines, after = client.export(after)
        yield lines


@contextmanager
def _written(path: str) -> Iterator[BinaryIO]:
    """Yield a file that is there under its name when it is whole, or the standard output."""
    if path == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.flush()
        return
    target = Path(path).expanduser()
    part = target.with_name(f"{target.name}.part")
    try:
        # Memories are personal: only their owner may read what holds them all.
        with os.fdopen(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
            yield file
        part.replace(target)
    except OSError as error:
        raise CannotDo(f"cannot write {path}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def _import(settings: Settings, json: bool, file: str, **options: Any) -> int:
    with (
        opened_client(settings, **options) as client,
        opened_source(file) as source,
        progress("importing", source.size) as advance,
    ):
        run = ImportRun(client, _tell, advance, time.sleep)
        run.run(source)
    results = {"memories": run.memories, "relations": run.relations}
    counts = {
        what: {result: counted[result] for result in ("recorded", "kept", "refused")}
        for what, counted in results.items()
    }
    if json:
        print_json(counts)
    else:
        for what, each in counts.items():
            if what == "memories" or any(each.values()):
                said = ", ".join(f"{number} {result}" for result, number in each.items())
                print(f"{what}: {said}")
    return 1 if any(each["refused"] for each in counts.values()) else 0


def _tell(remark: Remark) -> None:
    print(f"{remark.place}: {on_a_line(remark.text)}", file=sys.stderr)

"""Files to import: opened, and told apart by what is in them."""

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from local.importing.knowledge_graph import KnowledgeGraph
from local.importing.memory_service import MemoryServiceExport
from local.importing.own import OwnExport
from local.importing.source import Source
from local.told import CannotDo

STANDARD = "-"


@contextmanager
def opened_source(path: str) -> Iterator[Source]:
    """Yield what is in the file at ``path``, or in the standard input. Raises CannotDo."""
    try:
        with _opened(path) as file:
            yield _source(file)
    except OSError as error:
        raise CannotDo(f"cannot read {path}: {error.strerror}") from error


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    if path != STANDARD:
        with Path(path).expanduser().open("rb") as file:
            yield file
        return
    # A file is read more than once.
    with TemporaryFile() as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        yield copy


def _source(file: BinaryIO) -> Source:
    size = file.seek(0, 2)
    file.seek(0)
    first = next((text for text in file if text.strip()), b"")
    file.seek(0)
    found = _object(first)
    if found is None and first.lstrip(b"\xef\xbb\xbf \t").startswith(b"{"):
        # It goes on in the lines that follow, so it is not one of lines.
        found = _object(file.read())
        file.seek(0)
        if found is None:
            raise CannotDo("the file is neither lines of JSON nor one object of JSON")
        if "content" in found:
            raise CannotDo("a memory must be on a line of its own")
    if found is None:
        return OwnExport(file, size)
    if isinstance(found.get("memories"), list):
        return MemoryServiceExport(found)
    if isinstance(found.get("entities"), list):
        return KnowledgeGraph.of_object(found)
    if (
        found.get("type") in {"entity", "relation"}
        and "content" not in found
        and ("name" in found or "relationType" in found)
    ):
        return KnowledgeGraph.of_lines(file)
    return OwnExport(file, size)


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text.removeprefix(b"\xef\xbb\xbf"))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None

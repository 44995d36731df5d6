"""An export of this service: a memory a line, with its relations."""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from local.importing.source import Item, Link, Remark, line_of


class OwnExport:
    """Source over the lines of a file, which is read once for each of its parts."""

    name = "an export of memories"

    def __init__(self, file: BinaryIO, size: int) -> None:
        """``size`` is that of the file in bytes."""
        self._file = file
        self.size = size
        self._has_relations = False

    def items(self) -> Iterator[Item | Remark]:
        for number, text in self._lines():
            memory = _object(text)
            weight = len(text)
            if "relations" in memory:
                # They follow when all their ends are there.
                self._has_relations |= bool(memory.pop("relations"))
                text = line_of(memory)  # noqa: PLW2901
            yield Item(f"line {number}", _key(memory), text.rstrip(b"\r\n"), weight)

    def links(self) -> Iterator[Link | Remark]:
        if not self._has_relations:
            return
        for number, text in self._lines():
            memory = _object(text)
            relations = memory.get("relations")
            for relation in relations if isinstance(relations, list) else []:
                if isinstance(relation, dict):
                    said = dict(relation)
                    yield Link(f"line {number}", _key(memory), said.pop("to_id", None), said)
                else:
                    yield Remark(f"line {number}", "a relation must be an object", is_refusal=True)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        self._file.seek(0)
        for number, text in enumerate(self._file, 1):
            if text.strip():
                yield number, text.removeprefix(b"\xef\xbb\xbf") if number == 1 else text


def _object(text: bytes) -> dict[str, Any]:
    # What is none is sent as it is, to be refused with the reason.
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _key(memory: dict[str, Any]) -> int | None:
    key = memory.get("id")
    return key if isinstance(key, int) else None

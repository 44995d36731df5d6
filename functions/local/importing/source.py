"""What a file to import is read into, whoever wrote it."""

import json
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol


class Item(NamedTuple):
    """A memory, as a line to send. ``key`` is what the file's links call it by."""

    place: str
    key: Hashable
    line: bytes
    # Its share of the source's size.
    weight: int = 1


class Remark(NamedTuple):
    """What a person is to be told of a place in the file."""

    place: str
    text: str
    is_refusal: bool = False


class Link(NamedTuple):
    """A relation between two memories of the file, and what is said of it."""

    place: str
    from_key: Hashable
    to_key: Hashable
    said: Mapping[str, Any]


class Source(Protocol):
    """A file to import. Its items are read first, then its links."""

    @property
    def name(self) -> str:
        """What the file is."""

    @property
    def size(self) -> int:
        """What the weights of the items add up to."""

    def items(self) -> Iterator[Item | Remark]: ...

    def links(self) -> Iterator[Link | Remark]: ...


def line_of(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode(
        errors="surrogatepass"
    )

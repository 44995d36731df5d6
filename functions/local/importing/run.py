"""An import run: the lines sent in as few requests as take them, each told of where it fails."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

from local.client import Client, Fields, Unavailable, told_of
from local.importing.source import Item, Remark, Source, line_of
from memories.errors import Problem
from memories.fields import MAX_LINES
from memories.transfer import MAX_BYTES

MAX_TRIES = 8


class ImportRun:
    """Imports one file. Run again, after a failure too, it adds only what is missing."""

    def __init__(
        self,
        client: Client,
        tell: Callable[[Remark], None],
        advance: Callable[[int], None],
        pause: Callable[[float], None],
    ) -> None:
        """``advance`` is told the weight of what is done, ``pause`` waits for some seconds."""
        self._client = client
        self._tell = tell
        self._advance = advance
        self._pause = pause
        # How many lines came to which result.
        self.memories: Counter[str] = Counter()
        self.relations: Counter[str] = Counter()
        # Where the memories of the file are here.
        self._ids: dict[Hashable, int] = {}

    def run(self, source: Source) -> None:
        """Import all of a source, its memories before their relations. Raises as a client does."""
        for items in _batches(self._sendable(source.items(), self.memories)):
            for item, line in zip(items, self._sent(items), strict=True):
                self._count(self.memories, item.place, line)
                if line["id"] is not None and item.key is not None:
                    self._ids[item.key] = line["id"]
            self._advance(sum(item.weight for item in items))
        for items in _batches(self._sendable(self._relations(source), self.relations)):
            for item, line in zip(items, self._sent(items), strict=True):
                self._count(self.relations, item.place, line)

    def _relations(self, source: Source) -> Iterator[Item | Remark]:
        for link in source.links():
            if isinstance(link, Remark):
                yield link
            elif link.from_key in self._ids and link.to_key in self._ids:
                ends = {"from_id": self._ids[link.from_key], "to_id": self._ids[link.to_key]}
                yield Item(link.place, None, line_of({"type": "relation", **ends, **link.said}))
            else:
                told = "a relation's other end was not imported"
                yield Remark(link.place, told, is_refusal=True)

    def _sendable(self, found: Iterable[Item | Remark], counts: Counter[str]) -> Iterator[Item]:
        for each in found:
            if isinstance(each, Item) and len(each.line) < MAX_BYTES:
                yield each
                continue
            if isinstance(each, Item):
                told = f"is longer than {MAX_BYTES:,} bytes"
                each = Remark(each.place, told, is_refusal=True)  # noqa: PLW2901
            counts["refused"] += each.is_refusal
            self._tell(each)

    def _sent(self, items: list[Item]) -> list[Fields]:
        """Send the lines until they are taken, and return what became of each."""
        lines = b"\n".join(item.line for item in items)
        for tries in range(1, MAX_TRIES):
            try:
                return _lines(self._client.take_in(lines))
            except Unavailable as error:
                self._pause(max(error.retry_after, 2 ** (tries - 1)))
        return _lines(self._client.take_in(lines))

    def _count(self, counts: Counter[str], place: str, line: Fields) -> None:
        counts[line["result"]] += 1
        if line["problems"]:
            problems = [
                Problem(each["type"], tuple(each["loc"]), each["msg"]) for each in line["problems"]
            ]
            self._tell(Remark(place, told_of(problems), is_refusal=True))


def _lines(report: Fields) -> list[Any]:
    lines: list[Any] = report["lines"]
    return lines


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    size = 0
    for item in items:
        if batch and (len(batch) == MAX_LINES or size + len(item.line) + 1 > MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += len(item.line) + 1
    if batch:
        yield batch

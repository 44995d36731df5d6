"""Room in an answer: how many of the found records it takes, each whole."""

import json
from collections.abc import Sequence

from memories.limits import MAX_ANSWER
from memories.stores.port import Record
from memories.views import View

# What a character becomes at most: the twelve of an emoji's two escapes over HTTP, or those of a
# quotation mark in the two forms of an MCP result.
_WIDEST = 12
# The most characters of a record's JSON that are in none of its longer texts.
_FRAME = 2_000
# The most characters of an id and its comma.
_ID = 20


class Room:
    """Characters of JSON that a page may take."""

    def __init__(self, size: int, most: int, view: View) -> None:
        """``most`` is for a first record that is larger than ``size``: alone it may have it all."""
        self._size = size
        self._most = most
        self._view = view
        self.used = 0

    def fit(self, records: Sequence[Record]) -> int:
        """Return how many of the records there is room for, each whole and with its comma."""
        for number, record in enumerate(records):
            size = len(self._view.memory(record).model_dump_json()) + 1
            if self.used + size > (self._size if number else self._most):
                return number
            self.used += size
        return len(records)


def deliverable(records: Sequence[Record], view: View, most: int = MAX_ANSWER) -> int:
    """Return how many of the records an answer of ``most`` bytes delivers, and one at least."""
    # That is nearly always all of them, and sooner known than measured.
    if _WIDEST * sum(_length(record, view) for record in records) <= most:
        return len(records)
    left = most
    for number, record in enumerate(records):
        left -= _delivered(view.memory(record).model_dump_json())
        if left < 0 and number:
            return number
    return len(records)


def _length(record: Record, view: View) -> int:
    texts = (record.content, *record.tags, *record.shared_with_agents)
    return _FRAME + sum(map(len, texts)) + _ID * len(view.related(record))


def _delivered(text: str) -> int:
    """Return how many bytes JSON takes in the answer of that door where it takes the most.

    What a function hands over is JSON that holds the body as a string. Over HTTP the record is in
    the body once, and older runtimes write ASCII alone. An MCP result holds it twice, as an object
    and as a text, which makes it a string in a string.
    """
    once = json.dumps(text, ensure_ascii=False)
    twice = json.dumps(once, ensure_ascii=False)
    return max(len(json.dumps(text)), len(once.encode()) + len(twice.encode()))

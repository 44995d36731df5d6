"""What is measured on one machine: each operation as a request over REST and as a tool call."""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import load
import seed
import tool_calls

Call = tuple[str, dict[str, Any]]

CREATE, BATCH, READ, PATCH, PRIME = "create", "batch of 25", "read one", "patch", "prime"
PAGE, RARE = "page by updated_at", "page, q rare"
TYPE, TAG = "page, type", "page, tag"
# How many requests there are of one kind, before they come again.
_KINDS = 600


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. ``requests`` is empty where REST does not have it."""

    name: str
    calls: Sequence[Call]
    requests: Sequence[bytes]
    status: int = 200
    # How many are made in one go at most, where each leaves more records than there were.
    most: int | None = None

    def rest(self) -> Iterator[bytes]:
        """Return the requests over REST, without an end."""
        return itertools.cycle(self.requests)

    def http(self) -> Iterator[bytes]:
        """Return the calls over HTTP, without an end."""
        return itertools.cycle([tool_calls.over_http(*call) for call in self.calls])

    def stdio(self) -> Iterator[Call]:
        """Return the calls, without an end."""
        return itertools.cycle(self.calls)


def operations(records: int) -> list[Operation]:
    """Return them for a file of so many records, those last that change the number."""
    source = random.Random(11)
    ids = source.sample(seed.live(records), min(_KINDS, records // 2))
    return [
        *(_page(f"page by {sort}", sort=sort) for sort in ("id", "created_at", "last_accessed_at")),
        _page(PAGE, sort="updated_at"),
        _page(TYPE, sort="updated_at", memory_type="preference"),
        _page(TAG, sort="updated_at", tag=seed.RARE_TAG),
        _page("page, tag common", sort="updated_at", tag=seed.COMMON_TAG),
        _page(RARE, sort="updated_at", q=seed.RARE),
        _page("page, q common", sort="updated_at", q=seed.COMMON),
        # Each text is asked for so seldom that its total is no longer remembered.
        _pages("page, q new", [{"sort": "updated_at", "q": part} for part in _parts()]),
        _page("page, q absent", sort="updated_at", q=seed.ABSENT),
        _page("page, q of two", sort="updated_at", q=seed.SHORT),
        _page("page, q not ASCII", sort="updated_at", q=seed.OTHER_SCRIPT),
        Operation(PRIME, [("prime_memory_context", {})], []),
        Operation(
            READ,
            [("inspect_memory", {"memory_id": n}) for n in ids],
            [load.request("GET", f"/memories/{n}") for n in ids],
        ),
        _patch(records, source),
        *_creates(source),
    ]


def _page(name: str, **query: str) -> Operation:
    return _pages(name, [query])


def _pages(name: str, queries: Sequence[dict[str, str]]) -> Operation:
    return Operation(
        name,
        [("search_memories", query) for query in queries],
        [load.request("GET", f"/memories?{urlencode(each, quote_via=quote)}") for each in queries],
    )


def _patch(records: int, source: random.Random) -> Operation:
    # Every id comes three times, each time with another content, so that each is a change.
    found = seed.patched(records)
    ids = source.sample(found, min(_KINDS // 3, len(found))) * 3
    contents = [seed.content(source) for _ in ids]
    pairs = list(zip(ids, contents, strict=True))
    return Operation(
        PATCH,
        [("revise_memory", {"memory_id": n, "content": content}) for n, content in pairs],
        [load.request("PATCH", f"/memories/{n}", {"content": text}) for n, text in pairs],
    )


def _creates(source: random.Random) -> list[Operation]:
    bodies = [
        {"content": seed.content(source), "tags": list(seed.CREATED_TAGS)} for _ in range(_KINDS)
    ]
    batches = [bodies[start : start + seed.BATCH] for start in range(0, len(bodies), seed.BATCH)]
    return [
        Operation(
            CREATE,
            [("record_memory", body) for body in bodies],
            [load.request("POST", "/memories", body) for body in bodies],
            201,
            most=60,
        ),
        Operation(
            BATCH,
            [("record_memories", {"memories": batch}) for batch in batches],
            [load.request("POST", "/memories/batch", batch) for batch in batches],
            201,
            most=8,
        ),
    ]


def _parts() -> list[str]:
    """Return many texts that a third of the records hold."""
    phrase = seed.COMMON_PHRASE
    parts = {phrase[n : n + size] for size in (6, 7, 8) for n in range(len(phrase) - size + 1)}
    return [part for part in sorted(parts) if part == part.strip()]

"""The operations with the store's SQL and nothing else: no validation, no layers, no error answers.

They are the limit that the service is measured against, behind a bare route and a bare tool.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import seed
from memories.models import MemoryPatch, MemoryQuery, PrimingQuery
from memories.text import search_text
from statements import PRINCIPAL, Operations, Replay, drafts, pages_in, record_in

# So many searches' totals does the store remember.
_MOST_KNOWN = 64
# Of the record that is listened to. Like the ids of rows it is found in an earlier result, and so
# it is as large.
_VERSION = 1 << 30


class _Page(NamedTuple):
    """The statements of one query's page, with and without its matches counted."""

    counted: Replay
    known: Replay
    totals: list[int]


class Bare:
    """The operations over one file, which must be seeded."""

    def __init__(self, path: Path) -> None:
        self._operations = Operations(path)
        service, listen = self._operations.service, self._operations.listen
        (records,) = self._operations.connection.execute("SELECT max(id) FROM memories").fetchone()
        # A number that is no other value's, such as a limit.
        listened = seed.patched(records)[-1]
        self._read = listen(lambda: service.inspect(PRINCIPAL, listened), {listened: "id"})
        made, names = drafts(1, seed.CREATED_TAGS)
        self._create = listen(lambda: service.record(PRINCIPAL, made[0]), names)
        many, names_of_many = drafts(seed.BATCH, seed.CREATED_TAGS)
        self._batch = listen(lambda: service.record_batch(PRINCIPAL, many), names_of_many)
        self._operations.connection.execute(
            "UPDATE memories SET version = ? WHERE id = ?", (_VERSION, listened)
        )
        content = made[0].content
        self._patch = listen(
            lambda: service.revise(PRINCIPAL, listened, MemoryPatch(content=content)),
            {
                listened: "id",
                content: "content",
                search_text(content, seed.PATCHED_TAGS): "search_text",
            },
        )
        self._pages: dict[str, _Page] = {}
        self._known: set[str] = set()

    def read(self, memory_id: int) -> dict[str, Any]:
        return record_in(self._read.run({"id": memory_id}))

    def create(self, sent: dict[str, Any]) -> dict[str, Any]:
        (record,) = self._created(self._create, [sent])
        return record

    def batch(self, sent: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return self._created(self._batch, sent)

    def patch(self, memory_id: int, content: str) -> dict[str, Any]:
        self._known.clear()
        request = {
            "id": memory_id,
            "content": content,
            "search_text": search_text(content, seed.PATCHED_TAGS),
        }
        return record_in(self._patch.run(request))

    def page(self, key: str, query: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the page of a query, which is listened to when its ``key`` is new."""
        service = self._operations.service
        (envelope,) = self._paged(
            key, lambda: [service.search(PRINCIPAL, MemoryQuery.model_validate(query()))]
        )
        return envelope

    def prime(self) -> dict[str, Any]:
        service = self._operations.service

        def use() -> list[Any]:
            context = service.prime(PRINCIPAL, PrimingQuery())
            return [context.preferences, context.identities]

        preferences, identities = self._paged("prime", use)
        return {"preferences": preferences, "identities": identities}

    def _paged(self, key: str, use: Callable[[], list[Any]]) -> list[dict[str, Any]]:
        page = self._pages.get(key) or self._listen_to(key, use)
        known = key in self._known
        if not known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known.add(key)
        request: dict[str, Any] = {}
        found = pages_in((page.known if known else page.counted).run(request))
        found += [[]] * (len(page.totals) - len(found))
        return [
            _envelope(items, total, request["now"])
            for items, total in zip(found, page.totals, strict=True)
        ]

    def _listen_to(self, key: str, use: Callable[[], list[Any]]) -> _Page:
        totals: list[int] = []

        def noting() -> None:
            totals[:] = [page.total for page in use()]

        self._operations.forget_totals()
        counted = self._operations.listen(noting)
        self._pages[key] = page = _Page(counted, self._operations.listen(noting), totals)
        return page

    def _created(self, replay: Replay, sent: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        self._known.clear()
        request: dict[str, Any] = {"count": len(sent)}
        for n, each in enumerate(sent):
            request[f"content{n}"] = each["content"]
            request[f"search_text{n}"] = search_text(each["content"], each["tags"])
        replay.run(request)
        return [
            {
                "id": request[f"id{n}"],
                "content": each["content"],
                "tags": each["tags"],
                "created_at": request["now"],
                "updated_at": request["now"],
                "last_accessed_at": None,
                "memory_type": "fact",
                "status": "active",
                "version": 1,
            }
            for n, each in enumerate(sent)
        ]


def _envelope(items: list[dict[str, Any]], total: int, now: str) -> dict[str, Any]:
    for item in items:
        item["last_accessed_at"] = now
    more = len(items) < total
    return {"items": items, "total": total, "limit": 10, "offset": 0, "has_more": more}

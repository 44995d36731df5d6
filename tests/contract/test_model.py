"""Random sequences of operations give what a plain list of records would give."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from clock import Clock
from doors import HttpDoor, Refused
from http_api.app import build_handler
from http_client import EventClient
from memories.config import Settings
from memories.service import MemoryService
from memories.stores.sqlite import SqliteStore
from memories.text import fold

# Few words, so that texts often match: with case, composition, wildcards and short ones.
WORDS = ["tea", "Tea", "TEA time", "50%", "a_b", "café", "cafe\u0301", '"', "ß", "SS", "太郎", "x"]
contents = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
tags = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
types = st.sampled_from(["preference", "fact"])
statuses = st.sampled_from(["active", "invalid"])
drafts = st.fixed_dictionaries(
    {"content": contents, "tags": tags}, optional={"memory_type": types, "status": statuses}
)
patches = st.fixed_dictionaries(
    {}, optional={"content": contents, "tags": tags, "memory_type": types, "status": statuses}
)
queries = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(["active", "invalid", "deleted"]),
        "memory_type": types,
        "tag": st.sampled_from(WORDS),
        "q": st.sampled_from([*WORDS, "e", "ea", "me T", "%", "caf"]),
        "sort": st.sampled_from(["id", "created_at", "updated_at", "last_accessed_at"]),
        "limit": st.integers(1, 5),
        "offset": st.integers(0, 5),
    },
)


class Model:
    """The contract in plain Python, over a list."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def record(self, now: str, draft: dict[str, Any]) -> dict[str, Any]:
        record = {"memory_type": "fact", "status": "active", **draft}
        record |= {"id": len(self.records) + 1, "tags": list(dict.fromkeys(draft["tags"]))}
        record |= {"created_at": now, "updated_at": now, "last_accessed_at": None, "version": 1}
        self.records.append(record)
        return dict(record)

    def find(self, memory_id: int) -> Any:
        live = (record for record in self.records if record["status"] != "deleted")
        return next((record for record in live if record["id"] == memory_id), None)

    def revise(self, now: str, record: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
        if "tags" in patch:
            patch = patch | {"tags": list(dict.fromkeys(patch["tags"]))}
        if record | patch != record:
            record |= patch | {"updated_at": now, "version": record["version"] + 1}
        return dict(record)

    def matches(self, record: dict[str, Any], query: dict[str, Any]) -> bool:
        status, q = query.get("status"), fold(query.get("q", ""))
        return (
            (record["status"] == status if status else record["status"] != "deleted")
            and query.get("memory_type", record["memory_type"]) == record["memory_type"]
            and ("tag" not in query or query["tag"] in record["tags"])
            and any(q in fold(text) for text in [record["content"], *record["tags"]])
        )

    def search(self, now: str, query: dict[str, Any]) -> dict[str, Any]:
        found = [record for record in self.records if self.matches(record, query)]
        sort = query.get("sort", "id")
        if sort != "id":
            found.sort(key=lambda record: (record[sort] or "", record["id"]), reverse=True)
        limit, offset = query.get("limit", 10), query.get("offset", 0)
        items = found[offset : offset + limit]
        for record in items:
            record["last_accessed_at"] = now
        total = len(found)
        has_more = offset + len(items) < total
        envelope = {"total": total, "limit": limit, "offset": offset, "has_more": has_more}
        return {"items": [dict(record) for record in items], **envelope}


class Comparison(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.folder = TemporaryDirectory()
        self.clock = Clock()
        self.store = SqliteStore(Path(self.folder.name) / "memories.db")
        service = MemoryService(self.store, self.clock)
        self.door = HttpDoor(EventClient(build_handler(service, Settings())))
        self.model = Model()

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    @rule(seconds=st.sampled_from([0.000001, 1, -1, 86_400]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(draft=drafts)
    def record(self, draft: dict[str, Any]) -> None:
        assert self.door.record(**draft) == self.model.record(self.clock.now, draft)

    @rule(batch=st.lists(drafts, min_size=1, max_size=4))
    def record_batch(self, batch: list[dict[str, Any]]) -> None:
        expected = [self.model.record(self.clock.now, draft) for draft in batch]
        assert self.door.record_batch(batch) == expected

    @rule(query=queries)
    def search(self, query: dict[str, Any]) -> None:
        assert self.door.search(**query) == self.model.search(self.clock.now, query)

    @rule(memory_id=st.integers(1, 12), patch=patches, version=st.none() | st.integers(1, 3))
    def revise(self, memory_id: int, patch: dict[str, Any], version: int | None) -> None:
        record = self.model.find(memory_id)
        if self.allowed(record, version, lambda: self.door.revise(memory_id, version, **patch)):
            expected = self.model.revise(self.clock.now, record, patch)
            assert self.answer == expected

    @rule(memory_id=st.integers(1, 12), version=st.none() | st.integers(1, 3))
    def retire(self, memory_id: int, version: int | None) -> None:
        record = self.model.find(memory_id)
        if self.allowed(record, version, lambda: self.door.retire(memory_id, version)):
            record["status"] = "deleted"
            assert self.answer == record

    @rule(memory_id=st.integers(1, 12))
    def inspect(self, memory_id: int) -> None:
        record = self.model.find(memory_id)
        if self.allowed(record, None, lambda: self.door.inspect(memory_id)):
            record["last_accessed_at"] = self.clock.now
            assert self.answer == record

    def allowed(self, record: Any, version: int | None, use: Any) -> bool:
        """Use the door; return whether the model says that it does something."""
        try:
            self.answer = use()
        except Refused as refused:
            if record is None:
                assert refused.kind == "not found"
            else:
                assert version not in {None, record["version"]}
                assert (refused.kind, refused.current) == ("stale", record)
            return False
        assert record is not None
        return True


Comparison.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
test_the_service_gives_what_a_plain_list_gives = Comparison.TestCase

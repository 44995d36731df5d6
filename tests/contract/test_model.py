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
from http_client import EventClient, claims_of
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
AGENTS = ["one", "two", "three"]
agents = st.sampled_from(AGENTS)
grants = {
    "is_public": st.booleans(),
    "read_only": st.booleans(),
    "shared_with_agents": st.lists(agents, max_size=2, unique=True),
}
drafts = st.fixed_dictionaries(
    {"content": contents, "tags": tags},
    optional={"memory_type": types, "status": statuses, **grants},
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

    def record(self, now: str, agent: str, draft: dict[str, Any]) -> dict[str, Any]:
        granted = {"is_public": True, "read_only": False, "shared_with_agents": []}
        record = {"agent_id": agent, "memory_type": "fact", "status": "active", **granted, **draft}
        record |= {"id": len(self.records) + 1, "tags": list(dict.fromkeys(draft["tags"]))}
        record |= {"created_at": now, "updated_at": now, "last_accessed_at": None, "version": 1}
        self.records.append(record)
        return shown(record)

    def readable(self, agent: str) -> list[dict[str, Any]]:
        return [
            record
            for record in self.records
            if record["is_public"] or agent in {record["agent_id"], *record["shared_with_agents"]}
        ]

    def find(self, agent: str, memory_id: int) -> Any:
        live = (record for record in self.readable(agent) if record["status"] != "deleted")
        return next((record for record in live if record["id"] == memory_id), None)

    def revise(self, now: str, record: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
        if "tags" in patch:
            patch = patch | {"tags": list(dict.fromkeys(patch["tags"]))}
        if record | patch != record:
            record |= patch | {"updated_at": now, "version": record["version"] + 1}
        return shown(record)

    def matches(self, record: dict[str, Any], query: dict[str, Any]) -> bool:
        status, q = query.get("status"), fold(query.get("q", ""))
        return (
            (record["status"] == status if status else record["status"] != "deleted")
            and query.get("memory_type", record["memory_type"]) == record["memory_type"]
            and ("tag" not in query or query["tag"] in record["tags"])
            and any(q in fold(text) for text in [record["content"], *record["tags"]])
        )

    def search(self, now: str, agent: str, query: dict[str, Any]) -> dict[str, Any]:
        found = [record for record in self.readable(agent) if self.matches(record, query)]
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
        return {"items": [shown(record) for record in items], **envelope}


def shown(record: dict[str, Any]) -> dict[str, Any]:
    hidden = {"agent_id", *grants}
    return {name: value for name, value in record.items() if name not in hidden}


class Comparison(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.folder = TemporaryDirectory()
        self.clock = Clock()
        self.store = SqliteStore(Path(self.folder.name) / "memories.db")
        service = MemoryService(self.store, self.clock)
        handler = build_handler(service, Settings())
        self.doors = {
            agent: HttpDoor(EventClient(handler, claims_of("user", agent))) for agent in AGENTS
        }
        self.model = Model()

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    @rule(seconds=st.sampled_from([0.000001, 1, -1, 86_400]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(agent=agents, draft=drafts)
    def record(self, agent: str, draft: dict[str, Any]) -> None:
        expected = self.model.record(self.clock.now, agent, draft)
        assert self.doors[agent].record(**draft) == expected

    @rule(agent=agents, batch=st.lists(drafts, min_size=1, max_size=4))
    def record_batch(self, agent: str, batch: list[dict[str, Any]]) -> None:
        expected = [self.model.record(self.clock.now, agent, draft) for draft in batch]
        assert self.doors[agent].record_batch(batch) == expected

    @rule(agent=agents, query=queries)
    def search(self, agent: str, query: dict[str, Any]) -> None:
        expected = self.model.search(self.clock.now, agent, query)
        assert self.doors[agent].search(**query) == expected

    @rule(
        agent=agents,
        memory_id=st.integers(1, 12),
        patch=patches,
        version=st.none() | st.integers(1, 3),
    )
    def revise(
        self, agent: str, memory_id: int, patch: dict[str, Any], version: int | None
    ) -> None:
        record = self.model.find(agent, memory_id)
        door = self.doors[agent]
        if self.allowed(agent, record, version, lambda: door.revise(memory_id, version, **patch)):
            assert self.answer == self.model.revise(self.clock.now, record, patch)

    @rule(agent=agents, memory_id=st.integers(1, 12), version=st.none() | st.integers(1, 3))
    def retire(self, agent: str, memory_id: int, version: int | None) -> None:
        record = self.model.find(agent, memory_id)
        door = self.doors[agent]
        if self.allowed(agent, record, version, lambda: door.retire(memory_id, version)):
            record["status"] = "deleted"
            assert self.answer == shown(record)

    @rule(agent=agents, memory_id=st.integers(1, 12))
    def inspect(self, agent: str, memory_id: int) -> None:
        record = self.model.find(agent, memory_id)
        try:
            answer = self.doors[agent].inspect(memory_id)
        except Refused as refused:
            assert (record, refused.kind) == (None, "not found")
        else:
            record["last_accessed_at"] = self.clock.now
            assert answer == shown(record)

    @rule(
        agent=agents, memory_id=st.integers(1, 12), sent=st.fixed_dictionaries({}, optional=grants)
    )
    def share(self, agent: str, memory_id: int, sent: dict[str, Any]) -> None:
        record = self.model.find(agent, memory_id)
        try:
            answer = self.doors[agent].share(memory_id, **sent)
        except Refused as refused:
            if record is None:
                assert refused.kind == "not found"
            else:
                assert (refused.kind, record["agent_id"] == agent) == ("forbidden", False)
        else:
            record |= sent
            assert answer == {name: record[name] for name in grants}

    def allowed(self, agent: str, record: Any, version: int | None, use: Any) -> bool:
        """Use the door for a change; return whether the model says that it does something."""
        try:
            self.answer = use()
        except Refused as refused:
            if record is None:
                assert refused.kind == "not found"
            elif record["read_only"] and record["agent_id"] != agent:
                assert refused.kind == "forbidden"
            else:
                assert version not in {None, record["version"]}
                assert (refused.kind, refused.current) == ("stale", shown(record))
            return False
        assert record is not None
        assert record["agent_id"] == agent or not record["read_only"]
        return True


Comparison.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
test_the_service_gives_what_a_plain_list_gives = Comparison.TestCase

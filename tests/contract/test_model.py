"""Random sequences of operations give what a plain list of records for each user would give."""

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from agents import path_of
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
# Names that would meet in a key which is put together without care.
USERS = ["ann", "ann#AGENT#one"]
AGENTS = ["one", "one/two %2F", "three"]
agent_ids = st.sampled_from(AGENTS)
askers = st.tuples(st.sampled_from(USERS), agent_ids)
grants = {
    "is_public": st.booleans(),
    "read_only": st.booleans(),
    "shared_with_agents": st.lists(agent_ids, max_size=2, unique=True),
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


Asker = tuple[str, str]


class Model:
    """The contract in plain Python, over a list of one user's."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.agents: set[str] = set()
        self.last_id = 0

    def erase(self, agent: str | None = None) -> dict[str, int]:
        """Erase an agent, or all; return how much that was."""
        gone = [record for record in self.records if agent in {None, record["agent_id"]}]
        known = self.agents if agent is None else self.agents & {agent}
        erased = {"memories": len(gone), "agents": len(known)}
        self.records = [record for record in self.records if record not in gone]
        self.agents -= known
        if agent is None:
            self.last_id = 0
        return erased

    def record(self, now: str, agent: str, draft: dict[str, Any]) -> dict[str, Any]:
        granted = {"is_public": True, "read_only": False, "shared_with_agents": []}
        record = {"agent_id": agent, "memory_type": "fact", "status": "active", **granted, **draft}
        self.last_id += 1
        record |= {"id": self.last_id, "tags": list(dict.fromkeys(draft["tags"]))}
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


NINE = (
    "id",
    "content",
    "tags",
    "created_at",
    "updated_at",
    "last_accessed_at",
    "memory_type",
    "status",
    "version",
)


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
            (user, agent): HttpDoor(EventClient(handler, claims_of(user, agent)))
            for user in USERS
            for agent in AGENTS
        }
        self.models = {user: Model() for user in USERS}

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    def met(self, asker: Asker) -> tuple[HttpDoor, Model, str]:
        """Return the door and the model for a request, which makes the agent known."""
        user, agent = asker
        self.models[user].agents.add(agent)
        return self.doors[asker], self.models[user], agent

    @rule(seconds=st.sampled_from([0.000001, 1, -1, 86_400]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(asker=askers, draft=drafts)
    def record(self, asker: Asker, draft: dict[str, Any]) -> None:
        door, model, agent = self.met(asker)
        expected = model.record(self.clock.now, agent, draft)
        assert door.record(**draft) == expected

    @rule(asker=askers, batch=st.lists(drafts, min_size=1, max_size=4))
    def record_batch(self, asker: Asker, batch: list[dict[str, Any]]) -> None:
        door, model, agent = self.met(asker)
        expected = [model.record(self.clock.now, agent, draft) for draft in batch]
        assert door.record_batch(batch) == expected

    @rule(asker=askers, query=queries)
    def search(self, asker: Asker, query: dict[str, Any]) -> None:
        door, model, agent = self.met(asker)
        expected = model.search(self.clock.now, agent, query)
        assert door.search(**query) == expected

    @rule(asker=askers)
    def export(self, asker: Asker) -> None:
        door, model, agent = self.met(asker)
        answer = door.client.send("GET", "/export")
        lines = [json.loads(line) for line in answer.text.splitlines()]
        assert [{name: line[name] for name in NINE} for line in lines] == [
            shown(record) for record in model.readable(agent)
        ]

    @rule(asker=askers)
    def tags(self, asker: Asker) -> None:
        door, model, agent = self.met(asker)
        in_use = Counter(
            tag
            for record in model.readable(agent)
            if record["status"] != "deleted"
            for tag in record["tags"]
        )
        assert {item["tag"]: item["count"] for item in door.tags()["items"]} == in_use

    @rule(asker=askers)
    def me(self, asker: Asker) -> None:
        door, model, agent = self.met(asker)
        me = door.client.send("GET", "/me").body
        statuses = Counter(record["status"] for record in model.readable(agent))
        assert {kind: count for kind, count in me["memories"].items() if count} == statuses
        assert me["agents"] == len(model.agents)
        listed = door.client.send("GET", "/agents").body
        assert {each["agent_id"] for each in listed["items"]} == model.agents
        assert listed["total"] == len(model.agents)

    @rule(asker=askers, erased=st.none() | agent_ids)
    def erase(self, asker: Asker, erased: str | None) -> None:
        door, model = self.doors[asker], self.models[asker[0]]
        path = "/me" if erased is None else path_of(erased)
        known = erased is None or erased in model.agents
        answer = door.client.send("DELETE", path)
        assert answer.status == (200 if known else 404)
        if known:
            receipt = answer.body["erased"]
            assert {kind: receipt[kind] for kind in ("memories", "agents")} == model.erase(erased)

    @rule(
        asker=askers,
        memory_id=st.integers(1, 12),
        patch=patches,
        version=st.none() | st.integers(1, 3),
    )
    def revise(
        self, asker: Asker, memory_id: int, patch: dict[str, Any], version: int | None
    ) -> None:
        door, model, agent = self.met(asker)
        record = model.find(agent, memory_id)
        if self.allowed(agent, record, version, lambda: door.revise(memory_id, version, **patch)):
            assert self.answer == model.revise(self.clock.now, record, patch)

    @rule(asker=askers, memory_id=st.integers(1, 12), version=st.none() | st.integers(1, 3))
    def retire(self, asker: Asker, memory_id: int, version: int | None) -> None:
        door, model, agent = self.met(asker)
        record = model.find(agent, memory_id)
        if self.allowed(agent, record, version, lambda: door.retire(memory_id, version)):
            record["status"] = "deleted"
            assert self.answer == shown(record)

    @rule(asker=askers, memory_id=st.integers(1, 12))
    def inspect(self, asker: Asker, memory_id: int) -> None:
        door, model, agent = self.met(asker)
        record = model.find(agent, memory_id)
        try:
            answer = door.inspect(memory_id)
        except Refused as refused:
            assert (record, refused.kind) == (None, "not found")
        else:
            record["last_accessed_at"] = self.clock.now
            assert answer == shown(record)

    @rule(
        asker=askers, memory_id=st.integers(1, 12), sent=st.fixed_dictionaries({}, optional=grants)
    )
    def share(self, asker: Asker, memory_id: int, sent: dict[str, Any]) -> None:
        door, model, agent = self.met(asker)
        record = model.find(agent, memory_id)
        try:
            answer = door.share(memory_id, **sent)
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

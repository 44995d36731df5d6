"""Both stores give the same answers: the same random operations, every answer compared."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    multiple,
    rule,
    run_state_machine_as_test,
)
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.moto_table import new_table
from memories.errors import DomainError, VersionMismatch
from memories.models import MemoryDraft, MemoryPatch, MemoryQuery, Page
from memories.principal import SCOPES, Principal
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.sqlite import SqliteStore

# Few words, so that filters meet what is stored; among them what a query language, a pattern or
# the normal form of a text could trip over.
WORDS = [
    "tea",
    "TEA",
    "Zo\u00eb",
    "zoe\u0308",
    "Stra\u00dfe",
    "STRASSE",
    "50%",
    "a_b",
    "it's",
    "?",
    "#",
]
TAGS = ["tea", "Tea", "tea,milk", "Zo\u00eb", "Zoe\u0308", "%", "#1", '"']
PRINCIPALS = [Principal(name, "agent", frozenset(SCOPES)) for name in ("ann", "ann#1")]

contents = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
tags = st.lists(st.sampled_from(TAGS), min_size=1, max_size=3, unique=True)
types = st.sampled_from(["fact", "event"])
editable = st.sampled_from(["active", "invalid"])
principals = st.sampled_from(PRINCIPALS)
versions = st.none() | st.integers(1, 3)


def fields(**optional: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=optional)


drafts = st.builds(MemoryDraft, content=contents, tags=tags, memory_type=types, status=editable)
patches = fields(content=contents, tags=tags, memory_type=types, status=editable).map(
    lambda sent: MemoryPatch(**sent)
)
queries = fields(
    status=st.sampled_from(["active", "invalid", "deleted"]),
    memory_type=types,
    tag=st.sampled_from(TAGS),
    q=st.sampled_from([*WORDS, "t", "\u00eb", "SS", " ", "a t"]).filter(str.strip),
    sort=st.sampled_from(["id", "created_at", "updated_at", "last_accessed_at"]),
    limit=st.sampled_from([1, 3, 10]),
    offset=st.sampled_from([0, 1, 3]),
).map(lambda sent: MemoryQuery(**sent))


def answer(call: Callable[[MemoryService], Any], service: MemoryService) -> object:
    """Return what a caller would get: the answer, or the error with its facts."""
    try:
        return call(service)
    except VersionMismatch as error:
        return type(error), error.current
    except DomainError as error:
        return type(error)


class SameAnswers(RuleBasedStateMachine):
    """Two services that differ in their store, at the same time of day."""

    memories = Bundle[int]("memories")

    def __init__(self, client: DynamoDBClient) -> None:
        super().__init__()
        self._clock = Clock()
        self._opened = ExitStack()
        table = self._opened.enter_context(new_table(client))
        self._stores = [
            self._opened.enter_context(closing(store))
            for store in (DynamoDBStore(client, table), SqliteStore(":memory:"))
        ]

    def teardown(self) -> None:
        self._opened.close()

    def same(self, call: Callable[[MemoryService], Any]) -> Any:
        one, other = (answer(call, MemoryService(store, self._clock)) for store in self._stores)
        assert one == other
        return one

    @rule(seconds=st.sampled_from([0.000001, 1, -1]))
    def time_passes(self, seconds: float) -> None:
        self._clock.advance(seconds)

    @rule(target=memories, principal=principals, draft=drafts)
    def record(self, principal: Principal, draft: MemoryDraft) -> int:
        memory_id: int = self.same(lambda service: service.record(principal, draft)).id
        return memory_id

    @rule(target=memories, principal=principals, batch=st.lists(drafts, min_size=2, max_size=5))
    def record_batch(self, principal: Principal, batch: list[MemoryDraft]) -> Any:
        recorded = self.same(lambda service: service.record_batch(principal, batch))
        return multiple(*(memory.id for memory in recorded))

    @rule(principal=principals, memory_id=memories, patch=patches, version=versions)
    def revise(
        self, principal: Principal, memory_id: int, patch: MemoryPatch, version: int | None
    ) -> None:
        self.same(lambda service: service.revise(principal, memory_id, patch, version))

    @rule(principal=principals, memory_id=memories, version=versions)
    def retire(self, principal: Principal, memory_id: int, version: int | None) -> None:
        self.same(lambda service: service.retire(principal, memory_id, version))

    @rule(principal=principals, memory_id=memories)
    def inspect(self, principal: Principal, memory_id: int) -> None:
        self.same(lambda service: service.inspect(principal, memory_id))

    @rule(principal=principals, query=queries)
    def search(self, principal: Principal, query: MemoryQuery) -> None:
        self.page(principal, query)

    @rule(principal=principals, query=queries)
    def search_all_pages(self, principal: Principal, query: MemoryQuery) -> None:
        for offset in range(0, 100, query.limit):
            if not self.page(principal, query.model_copy(update={"offset": offset})).has_more:
                break

    def page(self, principal: Principal, query: MemoryQuery) -> Page:
        page = self.same(lambda service: service.search(principal, query))
        assert isinstance(page, Page)
        return page


def test_both_stores_give_the_same_answers(client: DynamoDBClient) -> None:
    class SameAnswersHere(SameAnswers):
        def __init__(self) -> None:
            super().__init__(client)

    run_state_machine_as_test(
        SameAnswersHere,
        settings=settings(
            max_examples=50,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )

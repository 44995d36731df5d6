"""Both stores give the same answers: the same random operations, every answer compared."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    multiple,
    rule,
    run_state_machine_as_test,
)
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock, HostClock
from dynamodb.moto_table import FewNewest, new_table
from memories.errors import DomainError, VersionMismatch
from memories.fields import Sort
from memories.models import (
    MemoryDraft,
    MemoryPatch,
    MemoryQuery,
    Page,
    PermissionsPatch,
    PrimingQuery,
)
from memories.principal import SCOPES, Principal
from memories.relation_models import RelatedQuery, RelationDraft, RelationQuery
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.dynamodb.matching import FIRST_LOOK
from memories.stores.sqlite import SqliteStore
from memories.tag_models import TagQuery

# Few words, so that filters meet what is stored; among them what a query language, a pattern or
# the normal form of a text could trip over.
WORDS = ["tea", "TEA", "Zo\u00eb", "zoe\u0308", "Stra\u00dfe", "STRASSE", "50%", "a_b", "it's?"]
TAGS = ["tea", "Tea", "tea,milk", "Zo\u00eb", "Zoe\u0308"]
AGENTS = ["agent", "Agent", "agent#2"]
ANNS = [Principal("ann", agent, frozenset(SCOPES)) for agent in AGENTS]
ANN, NOT_ANN = ANNS[0], Principal("ann#1", "agent", frozenset(SCOPES))

contents = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
tags = st.lists(st.sampled_from(TAGS), min_size=1, max_size=3, unique=True)
types = st.sampled_from(["fact", "preference"])
editable = st.sampled_from(["active", "invalid"])
SORTS: st.SearchStrategy[Sort] = st.sampled_from(
    ["id", "created_at", "updated_at", "last_accessed_at"]
)
versions = st.sampled_from([None, None, 1, 2])

GRANTS: dict[str, st.SearchStrategy[Any]] = {
    "is_public": st.booleans(),
    "read_only": st.booleans(),
    "shared_with_agents": st.lists(st.sampled_from(AGENTS), max_size=2, unique=True),
}
grants = st.fixed_dictionaries({}, optional=GRANTS)
drafts = st.builds(
    lambda granted, **fields: MemoryDraft(**fields, **granted),
    grants,
    content=contents,
    tags=tags,
    memory_type=types,
    status=editable,
)
anns = st.sampled_from(ANNS)
EDITABLE: dict[str, st.SearchStrategy[Any]] = {
    "content": contents,
    "tags": tags,
    "memory_type": types,
    "status": editable,
    "importance": st.integers(0, 10),
    "category": st.sampled_from(["drinks", "places"]),
}
patches = st.fixed_dictionaries({}, optional=EDITABLE).map(lambda sent: MemoryPatch(**sent))

FILTERS: dict[str, st.SearchStrategy[Any]] = {
    "status": st.sampled_from(["active", "invalid", "deleted"]),
    "memory_type": types,
    "tag": st.sampled_from(TAGS),
    "q": st.sampled_from([*WORDS, "e", "\u00eb", "SS", "a t", "a\nt"]),
}


relation_types = st.sampled_from(["follows", "supersedes", "supersedes_all"])
relation_drafts = st.builds(
    RelationDraft, strength=st.sampled_from([0, 0.25, 1]), invalidate=st.booleans()
)
RELATION_FILTERS: dict[str, st.SearchStrategy[Any]] = {
    "direction": st.sampled_from(["out", "in", "both"]),
    "relation_type": relation_types,
    "limit": st.sampled_from([1, 3]),
    "offset": st.sampled_from([0, 1]),
}
relation_queries = st.fixed_dictionaries({}, optional=RELATION_FILTERS).map(
    lambda sent: RelationQuery(**sent)
)


@st.composite
def queries(draw: st.DrawFn) -> MemoryQuery:
    # With more filters than two hardly anything is found.
    names = draw(st.lists(st.sampled_from(sorted(FILTERS)), max_size=2, unique=True))
    filters = {name: draw(FILTERS[name]) for name in names}
    return MemoryQuery(
        sort=draw(SORTS),
        limit=draw(st.sampled_from([1, 3, 10])),
        offset=draw(st.sampled_from([0, 0, 0, 1, 3])),
        **filters,
    )


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

    def __init__(self, client: DynamoDBClient, first_look: int) -> None:
        super().__init__()
        self._clock = Clock()
        self._host = HostClock()
        self._opened = ExitStack()
        table = self._opened.enter_context(new_table(client))
        folder = self._opened.enter_context(TemporaryDirectory())
        self._stores = [
            self._opened.enter_context(closing(store))
            for store in (
                DynamoDBStore(
                    FewNewest(client).as_client(),
                    table,
                    wall=self._host,
                    first_look=first_look,
                ),
                SqliteStore(Path(folder) / "memories.db"),
            )
        ]

    def teardown(self) -> None:
        self._opened.close()

    def same(self, call: Callable[[MemoryService], Any]) -> Any:
        one, other = (answer(call, MemoryService(store, self._clock)) for store in self._stores)
        assert one == other
        return one

    @initialize(target=memories, batch=st.lists(drafts, min_size=3, max_size=5))
    def some_are_recorded(self, batch: list[MemoryDraft]) -> Any:
        return self.record_batch(batch)

    @rule(seconds=st.sampled_from([0.000001, 1, -1]))
    def time_passes(self, seconds: float) -> None:
        self._clock.advance(seconds)

    @rule(seconds=st.sampled_from([1, 800, 1_000, 50_000]))
    def much_time_passes_on_the_host(self, seconds: float) -> None:
        self._host.passed += seconds

    @rule(seconds=st.floats(-300, 300))
    def the_clock_of_the_host_is_set(self, seconds: float) -> None:
        self._host.off = seconds

    @rule(target=memories, draft=drafts, principal=anns)
    def record(self, draft: MemoryDraft, principal: Principal) -> int:
        memory_id: int = self.same(lambda service: service.record(principal, draft)).id
        return memory_id

    @rule(target=memories, batch=st.lists(drafts, min_size=2, max_size=3))
    def record_batch(self, batch: list[MemoryDraft]) -> Any:
        recorded = self.same(lambda service: service.record_batch(ANN, batch))
        return multiple(*(memory.id for memory in recorded))

    @rule(draft=drafts)
    def another_records(self, draft: MemoryDraft) -> None:
        self.same(lambda service: service.record(NOT_ANN, draft))

    @rule(memory_id=memories, patch=patches, version=versions, principal=anns)
    def revise(
        self, memory_id: int, patch: MemoryPatch, version: int | None, principal: Principal
    ) -> None:
        self.same(lambda service: service.revise(principal, memory_id, patch, version))

    @rule(memory_id=memories, version=versions, principal=anns)
    def retire(self, memory_id: int, version: int | None, principal: Principal) -> None:
        self.same(lambda service: service.retire(principal, memory_id, version))

    @rule(memory_id=memories, sent=grants, principal=anns)
    def share(self, memory_id: int, sent: dict[str, Any], principal: Principal) -> None:
        patch = PermissionsPatch(**sent)
        self.same(lambda service: service.share(principal, memory_id, patch))
        self.same(lambda service: service.permissions(principal, memory_id))

    @rule(memory_id=memories, principal=st.sampled_from([*ANNS, NOT_ANN]), full=st.booleans())
    def inspect(self, memory_id: int, principal: Principal, full: bool) -> None:
        self.same(lambda service: service.inspect(principal, memory_id, full))

    @rule(query=queries(), principal=st.sampled_from([*ANNS, NOT_ANN]))
    def search(self, query: MemoryQuery, principal: Principal) -> None:
        self.page(principal, query)

    @rule(query=queries())
    def search_all_pages(self, query: MemoryQuery) -> None:
        for offset in range(0, 100, query.limit):
            if not self.page(ANN, query.model_copy(update={"offset": offset})).has_more:
                break

    @rule(sort=SORTS, room=st.sampled_from([1_000, 1_500, 20_000]))
    def prime(self, sort: Sort, room: int) -> None:
        query = PrimingQuery(sort=sort, max_chars=room)
        self.same(lambda service: service.prime(ANN, query))

    @rule(
        edge=st.tuples(memories, relation_types, memories),
        sent=relation_drafts,
        principal=anns,
    )
    def relate(self, edge: tuple[int, str, int], sent: RelationDraft, principal: Principal) -> None:
        self.same(lambda service: service.relations.relate(principal, *edge, sent))

    @rule(edge=st.tuples(memories, relation_types, memories), principal=anns)
    def unrelate(self, edge: tuple[int, str, int], principal: Principal) -> None:
        self.same(lambda service: service.relations.unrelate(principal, *edge))

    @rule(
        memory_id=memories,
        query=relation_queries,
        principal=st.sampled_from([*ANNS, NOT_ANN]),
        depth=st.integers(1, 3),
    )
    def relations(
        self, memory_id: int, query: RelationQuery, principal: Principal, depth: int
    ) -> None:
        self.same(lambda service: service.relations.listed(principal, memory_id, query))
        around = RelatedQuery(
            **query.model_dump(exclude={"offset"}, exclude_none=True), depth=depth
        )
        self.same(lambda service: service.relations.around(principal, memory_id, around))

    @rule(
        principal=st.sampled_from([*ANNS, NOT_ANN]),
        limit=st.sampled_from([1, 100]),
        offset=st.sampled_from([0, 0, 1]),
    )
    def tags(self, principal: Principal, limit: int, offset: int) -> None:
        query = TagQuery(limit=limit, offset=offset)
        self.same(lambda service: service.tags.listed(principal, query))

    def page(self, principal: Principal, query: MemoryQuery) -> Page:
        page = self.same(lambda service: service.search(principal, query, full=True))
        assert isinstance(page, Page)
        return page


@pytest.mark.parametrize("first_look", [FIRST_LOOK, 2], ids=["of few memories", "of many"])
def test_both_stores_give_the_same_answers(client: DynamoDBClient, first_look: int) -> None:
    class SameAnswersHere(SameAnswers):
        def __init__(self) -> None:
            super().__init__(client, first_look)

    run_state_machine_as_test(
        SameAnswersHere,
        settings=settings(
            max_examples=25,
            stateful_step_count=30,
            deadline=None,
            # To shrink a failure takes minutes on moto; thirty steps can be read as they are.
            phases=[Phase.reuse, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )

"""The conditions of the store say the same as the two rules, for every kind of grant and agent."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from memories.grants import may_change, may_read
from memories.principal import Principal
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.port import ConditionFailed, NewRecord, Record, Selection

AT = "2026-04-06T14:12:00.000000Z"
LATER = "2026-04-06T14:13:00.000000Z"
SORTS = ["id", "created_at", "updated_at", "last_accessed_at"]

AGENTS = MAKER, LISTED, OTHER = ["maker", "listed", "other"]

# What a separator, a pattern or a part of a list could be mistaken for; and names that differ
# only in case, in their normal form or by being part of another.
ODD_NAMES = [
    *["a#b", "a#", "a", "a/b", "50%", "%", "a b", " ", "a,b", "A", ":agent"],
    *["\N{BRAIN}", "\N{BRAIN}\N{BRAIN}", "Zo\u00eb", "Zoe\u0308"],
    *["x" * 256, "x" * 255, "\N{BRAIN}" * 256],
]


@dataclass(frozen=True)
class Case:
    """A memory's grants."""

    is_public: bool
    read_only: bool
    shared_with: tuple[str, ...]

    def __str__(self) -> str:
        words = ["public" if self.is_public else "private", *self.shared_with]
        return " ".join([*words, "read-only"] if self.read_only else words)

    def draft(self) -> NewRecord:
        return NewRecord(
            content="Likes tea",
            tags=("drinks",),
            memory_type="fact",
            status="active",
            created_at=AT,
            importance=5,
            category=None,
            source=None,
            is_public=self.is_public,
            read_only=self.read_only,
            shared_with_agents=self.shared_with,
        )


CASES = [
    Case(is_public, read_only, shared_with)
    for is_public, read_only, shared_with in product(
        [True, False], [True, False], [(), (LISTED,), ("before", LISTED, "after")]
    )
]
PRIVATE = Case(is_public=False, read_only=False, shared_with=())
GRANTS: list[dict[str, Any]] = [
    {},
    {"is_public": True},
    {"is_public": False, "read_only": True, "shared_with_agents": ("one", "other")},
    {"shared_with_agents": ()},
]

each_case = pytest.mark.parametrize("case", CASES, ids=str)


@pytest.fixture
def maker(principal: Principal) -> Principal:
    return replace(principal, agent_id=MAKER)


@contextmanager
def refused(current: Record | None) -> Iterator[None]:
    """Expect a condition that fails, and tells what the record is."""
    with pytest.raises(ConditionFailed) as failure:
        yield
    assert failure.value.current == current


def allowed(may: bool, current: Record) -> AbstractContextManager[None]:
    return nullcontext() if may else refused(current)


def pages(
    store: DynamoDBStore, principal: Principal, sort: str, text: str | None = None, limit: int = 100
) -> tuple[list[int], set[int]]:
    """Return the ids on all pages, and the different totals that these tell."""
    found: list[int] = []
    totals = set()
    while True:
        selection = Selection(None, None, None, text, sort, limit, offset=len(found))
        records, total = store.page(principal, selection, AT)
        totals.add(total)
        found += [record.id for record in records]
        if not records or len(found) >= total:
            return found, totals


def readable(records: Sequence[Record], agent: str) -> list[int]:
    return [record.id for record in records if may_read(record, agent)]


@each_case
def test_a_memory_is_read_by_those_who_may(
    store: DynamoDBStore, maker: Principal, case: Case
) -> None:
    for agent in AGENTS:
        (record,) = store.create(maker, [case.draft()])
        found = store.access(replace(maker, agent_id=agent), record.id, LATER)
        accessed = record._replace(last_accessed_at=LATER, access_count=1)
        assert found == (accessed if may_read(record, agent) else None)
        assert store.get(maker, record.id) == (found or record)


@each_case
def test_a_memory_is_changed_by_those_who_may(
    store: DynamoDBStore, maker: Principal, case: Case
) -> None:
    changes: dict[str, Any] = {"importance": 9, "category": "drinks", "source": "themselves"}
    for agent in AGENTS:
        (record,) = store.create(maker, [case.draft()])
        changed = record
        with allowed(may_change(record, agent), record):
            changed = store.update(replace(maker, agent_id=agent), record.id, 1, changes, LATER)
            assert changed == record._replace(**changes, version=2, updated_at=LATER)
        assert store.get(maker, record.id) == changed


@each_case
@pytest.mark.parametrize("version", [None, 1])
def test_a_memory_is_retired_by_those_who_may(
    store: DynamoDBStore, maker: Principal, case: Case, version: int | None
) -> None:
    for agent in AGENTS:
        (record,) = store.create(maker, [case.draft()])
        retired = record
        with allowed(may_change(record, agent), record):
            retired = store.retire(replace(maker, agent_id=agent), record.id, version, AT)
            assert retired == record._replace(status="deleted")
        assert store.get(maker, record.id) == retired


@each_case
def test_grants_are_given_by_the_maker_alone(
    store: DynamoDBStore, maker: Principal, case: Case
) -> None:
    for agent, grants in product(AGENTS, GRANTS):
        (record,) = store.create(maker, [case.draft()])
        granted = record
        with allowed(agent == MAKER, record):
            granted = store.grant(replace(maker, agent_id=agent), record.id, grants)
            assert granted == record._replace(**grants)
        assert store.get(maker, record.id) == granted


@pytest.mark.parametrize("grants", GRANTS, ids=str)
def test_a_memory_that_is_not_there_or_deleted_is_given_no_grants_and_none_is_made(
    store: DynamoDBStore, maker: Principal, grants: dict[str, Any]
) -> None:
    with refused(None):
        store.grant(maker, 1, grants)
    assert store.get(maker, 1) is None
    (record,) = store.create(maker, [PRIVATE.draft()])
    retired = store.retire(maker, record.id, None, AT)
    with refused(retired):
        store.grant(maker, record.id, grants)
    assert store.get(maker, record.id) == retired


def test_a_memory_that_is_not_there_is_neither_read_nor_changed_and_none_is_made(
    store: DynamoDBStore, maker: Principal
) -> None:
    assert store.access(maker, 1, AT) is None
    with refused(None):
        store.update(maker, 1, 1, {"content": "New"}, AT)
    with refused(None):
        store.retire(maker, 1, None, AT)
    assert store.get(maker, 1) is None


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("text", [None, "tea"])
@pytest.mark.parametrize("agent", AGENTS)
def test_pages_and_total_are_of_what_may_be_read(
    client: DynamoDBClient, table: str, maker: Principal, sort: str, text: str | None, agent: str
) -> None:
    store = DynamoDBStore(client, table)
    # So many that the newest, which are read apart from the index, are not all.
    records = [
        record for _ in range(3) for record in store.create(maker, [case.draft() for case in CASES])
    ]
    found, totals = pages(store, replace(maker, agent_id=agent), sort, text, limit=10)
    expected = readable(records, agent)
    assert sorted(found) == expected
    assert totals == {len(expected)}
    store.close()


def test_a_page_counts_the_access_of_what_it_shows_and_of_nothing_else(
    store: DynamoDBStore, maker: Principal
) -> None:
    records = store.create(maker, [case.draft() for case in CASES])
    pages(store, replace(maker, agent_id=OTHER), "id")
    for record in records:
        stored = store.get(maker, record.id)
        assert stored is not None
        assert stored.access_count == (1 if may_read(record, OTHER) else 0)


def test_each_agent_finds_its_own_and_what_is_shared_with_it_whatever_it_is_called(
    client: DynamoDBClient, table: str, principal: Principal
) -> None:
    store = DynamoDBStore(client, table)
    agents = [replace(principal, agent_id=name) for name in ODD_NAMES]
    records = []
    for agent, next_name in zip(agents, ODD_NAMES[1:] + ODD_NAMES[:1], strict=True):
        shared = replace(PRIVATE, shared_with=("someone", next_name))
        records += store.create(agent, [shared.draft()])
    for agent in agents:
        expected = readable(records, agent.agent_id)
        assert len(expected) == 2
        assert pages(store, agent, "id") == (expected, {2})
        found = [record.id for record in records if store.access(agent, record.id, AT)]
        assert found == expected


def test_the_longest_list_of_the_longest_names_is_kept(
    store: DynamoDBStore, maker: Principal
) -> None:
    names = tuple(f"{number:02}" + "\N{BRAIN}" * 254 for number in range(100))
    (record,) = store.create(maker, [PRIVATE.draft()])
    store.grant(maker, record.id, {"shared_with_agents": names})
    for name in (names[0], names[-1]):
        agent = replace(maker, agent_id=name)
        assert pages(store, agent, "updated_at") == ([record.id], {1})
        found = store.access(agent, record.id, AT)
        assert found is not None
        assert found.shared_with_agents == names

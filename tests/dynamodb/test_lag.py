"""While the indexes lag: what was created is found, what was changed is not shown as it was."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.moto_table import LaggingIndexes, new_table
from memories.fields import Sort
from memories.models import Memory, MemoryDraft, MemoryPatch, MemoryQuery, PermissionsPatch
from memories.principal import Principal
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.dynamodb.matching import FIRST_LOOK
from memories.stores.dynamodb.newest import NEWEST

PRIVATE, PUBLIC = (PermissionsPatch(is_public=is_public) for is_public in (False, True))
SORTS: list[Sort] = ["id", "created_at", "updated_at", "last_accessed_at"]
LIMIT = 100


Lagging = Callable[[], AbstractContextManager[MemoryService]]


@pytest.fixture(params=[FIRST_LOOK, 2], ids=["of few memories", "of many"])
def lagging(
    client: DynamoDBClient, table: str, clock: Clock, request: pytest.FixtureRequest
) -> Lagging:
    """Make a service over the table whose indexes stay as they are then."""

    @contextmanager
    def lagging() -> Iterator[MemoryService]:
        with new_table(client) as copy:
            behind = LaggingIndexes(client, table, copy).as_client()
            store = DynamoDBStore(behind, table, first_look=request.param)
            yield MemoryService(store, clock)
            store.close()

    return lagging


def drafts(count: int, tag: str = "drinks") -> list[MemoryDraft]:
    return [MemoryDraft(content=f"Likes {number}", tags=[tag]) for number in range(count)]


def ids(memories: list[Memory]) -> list[int]:
    return [memory.id for memory in memories]


@pytest.fixture(autouse=True)
def stored(service: MemoryService, principal: Principal, clock: Clock) -> None:
    service.record_batch(principal, drafts(5))
    clock.advance()


@pytest.mark.parametrize("sort", SORTS)
def test_a_created_memory_is_listed_at_once(
    lagging: Lagging, clock: Clock, principal: Principal, sort: Sort
) -> None:
    with lagging() as service:
        service.record(principal, drafts(1)[0])
        page = service.search(principal, MemoryQuery(sort=sort))
    assert page.total == 6
    assert ids(page.items) == ([1, 2, 3, 4, 5, 6] if sort == "id" else [6, 5, 4, 3, 2, 1])


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("batches", [[NEWEST], [NEWEST, 1], [20, 20]])
def test_all_created_memories_are_listed_at_once_when_they_are_many(
    lagging: Lagging,
    clock: Clock,
    principal: Principal,
    sort: Sort,
    batches: list[int],
) -> None:
    with lagging() as service:
        for size in batches:
            service.record_batch(principal, drafts(size, "new"))
        every = service.search(principal, MemoryQuery(sort=sort, limit=1))
        new = service.search(principal, MemoryQuery(sort=sort, tag="new", limit=1))
    assert every.total == 5 + sum(batches)
    assert new.total == sum(batches)
    assert new.items[0].id == (6 if sort == "id" else 5 + sum(batches))


@pytest.mark.parametrize("sort", SORTS)
def test_pages_of_created_memories_have_no_repeat_and_no_gap(
    lagging: Lagging, clock: Clock, principal: Principal, sort: Sort
) -> None:
    with lagging() as service:
        service.record_batch(principal, drafts(8))
        found = []
        for offset in range(0, 13, 5):
            page = service.search(principal, MemoryQuery(sort=sort, limit=5, offset=offset))
            found += ids(page.items)
            clock.advance()
    assert sorted(found) == list(range(1, 14))


@pytest.mark.parametrize("sort", SORTS)
def test_a_retired_memory_is_not_listed(
    lagging: Lagging, clock: Clock, principal: Principal, sort: Sort
) -> None:
    with lagging() as service:
        service.retire(principal, 2)
        service.retire(principal, service.record(principal, drafts(1)[0]).id)
        page = service.search(principal, MemoryQuery(sort=sort))
        retired = service.search(principal, MemoryQuery(sort=sort, status="deleted"))
    assert sorted(ids(page.items)) == [1, 3, 4, 5]
    assert page.total == 4
    assert sorted(ids(retired.items)) == [2, 6]


@pytest.mark.parametrize("sort", SORTS)
def test_a_changed_memory_is_listed_as_it_is_and_not_as_it_was(
    lagging: Lagging, clock: Clock, principal: Principal, sort: Sort
) -> None:
    with lagging() as service:
        service.revise(principal, 3, MemoryPatch(status="invalid", tags=["other"]))
        active = service.search(principal, MemoryQuery(sort=sort, status="active"))
        drinks = service.search(principal, MemoryQuery(sort=sort, tag="drinks"))
        invalid = service.search(principal, MemoryQuery(sort=sort, status="invalid"))
        other = service.search(principal, MemoryQuery(sort=sort, tag="other"))
    assert sorted(ids(active.items)) == sorted(ids(drinks.items)) == [1, 2, 4, 5]
    assert (active.total, drinks.total) == (4, 4)
    assert ids(invalid.items) == ids(other.items) == [3]


def test_a_changed_memory_among_the_newest_is_first_by_its_update(
    lagging: Lagging, clock: Clock, principal: Principal
) -> None:
    with lagging() as service:
        service.revise(principal, 3, MemoryPatch(content="Likes water"))
        page = service.search(principal, MemoryQuery(sort="updated_at"))
    assert ids(page.items) == [3, 5, 4, 2, 1]


@pytest.mark.parametrize("sort", SORTS)
def test_among_the_newest_grants_hold_as_they_are_and_not_as_they_were(
    lagging: Lagging,
    clock: Clock,
    service: MemoryService,
    principal: Principal,
    sort: Sort,
) -> None:
    another = replace(principal, agent_id="another")
    service.share(principal, 1, PRIVATE)
    with lagging() as behind:
        behind.share(principal, 1, PUBLIC)
        behind.share(principal, 2, PRIVATE)
        behind.share(principal, 3, PRIVATE)
        behind.share(principal, 3, PermissionsPatch(shared_with_agents=["another"]))
        private = drafts(1)[0].model_copy(update={"is_public": False})
        behind.record(principal, private)
        behind.record(another, private)
        page = behind.search(another, MemoryQuery(sort=sort))
    assert sorted(ids(page.items)) == [1, 3, 4, 5, 7]
    assert page.total == 5


@pytest.mark.parametrize("sort", SORTS)
def test_an_older_memory_made_private_is_not_shown_though_the_index_has_it_public(
    lagging: Lagging,
    clock: Clock,
    service: MemoryService,
    principal: Principal,
    sort: Sort,
) -> None:
    service.record_batch(principal, drafts(NEWEST))
    another = replace(principal, agent_id="another")
    with lagging() as behind:
        behind.share(principal, 1, PRIVATE)
        page = behind.search(another, MemoryQuery(sort=sort, limit=LIMIT))
        own = behind.search(principal, MemoryQuery(sort=sort, limit=LIMIT))
    assert sorted(ids(page.items)) == list(range(2, 5 + NEWEST + 1))
    assert (page.total, own.total) == (4 + NEWEST, 5 + NEWEST)


@pytest.mark.parametrize("sort", SORTS)
def test_an_older_memory_that_was_changed_is_not_shown_where_it_no_longer_belongs(
    lagging: Lagging,
    clock: Clock,
    service: MemoryService,
    principal: Principal,
    sort: Sort,
) -> None:
    service.record_batch(principal, drafts(NEWEST))
    with lagging() as behind:
        behind.revise(principal, 1, MemoryPatch(status="invalid"))
        behind.retire(principal, 2)
        page = behind.search(principal, MemoryQuery(sort=sort, status="active", limit=LIMIT))
    assert sorted(ids(page.items)) == list(range(3, 5 + NEWEST + 1))
    assert page.total == NEWEST + 3
    assert not page.has_more


def test_a_page_with_a_text_does_not_depend_on_an_index(
    lagging: Lagging,
    clock: Clock,
    service: MemoryService,
    principal: Principal,
) -> None:
    service.record_batch(principal, drafts(NEWEST))
    with lagging() as behind:
        behind.revise(principal, 1, MemoryPatch(content="Hates 0"))
        behind.revise(principal, 2, MemoryPatch(content="Hates 1"))
        page = behind.search(principal, MemoryQuery(q="hates", sort="updated_at"))
    assert ids(page.items) == [2, 1]

"""Listings of many memories, which are counted by snapshots: always as all that is in the table."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock, HostClock
from dynamodb.calls import LOST, failing
from dynamodb.moto_table import FewNewest, OtherClient
from memories.bootstrap import ATTEMPTS
from memories.errors import StoreUnavailable
from memories.fields import Sort
from memories.lifecycle import Lifecycle, Policies
from memories.models import Memory, MemoryDraft, MemoryPatch, MemoryQuery, PermissionsPatch
from memories.principal import Principal
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.dynamodb.keys import SNAPSHOT_PREFIX, partition
from memories.stores.dynamodb.snapshots import LIFETIME
from memories.stores.dynamodb.stamps import MARGIN
from memories.stores.sqlite import SqliteStore

PRIVATE = PermissionsPatch(is_public=False)
SORTS: list[Sort] = ["id", "created_at", "updated_at", "last_accessed_at"]
ALL = MemoryQuery(limit=100)


class Indexes(OtherClient):
    """Names the indexes that are queried."""

    def __init__(self, client: DynamoDBClient) -> None:
        super().__init__(client)
        self.queried: list[str] = []

    def query(self, **query: Any) -> Any:
        self.queried += [query["IndexName"]] if "IndexName" in query else []
        return self.client.query(**query)


Over = Callable[[OtherClient], MemoryService]


@pytest.fixture
def host() -> HostClock:
    return HostClock()


@pytest.fixture
def over(table: str, clock: Clock, host: HostClock) -> Iterator[Over]:
    """Make a service over another client to which three memories are many."""
    stores = []

    def over(client: OtherClient) -> MemoryService:
        store = DynamoDBStore(
            client.as_client(),
            table,
            lambda tries: None,
            wall=host,
            first_look=2,
        )
        stores.append(store)
        return MemoryService(store, clock)

    yield over
    for store in stores:
        store.close()


@pytest.fixture
def indexes(client: DynamoDBClient) -> Indexes:
    return Indexes(client)


@pytest.fixture
def service(indexes: Indexes, over: Over) -> MemoryService:
    return over(indexes)


def drafts(count: int, **fields: Any) -> list[MemoryDraft]:
    return [MemoryDraft(content="x", tags=["drinks"], **fields) for _ in range(count)]


def record_many(service: MemoryService, principal: Principal, count: int) -> None:
    for start in range(0, count, 25):
        service.record_batch(principal, drafts(min(25, count - start)))


def ids(memories: list[Memory]) -> list[int]:
    return [memory.id for memory in memories]


def snapshots(client: DynamoDBClient, table: str, principal: Principal) -> list[Any]:
    return client.query(
        TableName=table,
        KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
        ExpressionAttributeValues={
            ":pk": {"S": partition(principal.user_id)},
            ":prefix": {"S": SNAPSHOT_PREFIX},
        },
    )["Items"]


def is_counted(client: Indexes, service: MemoryService, principal: Principal) -> bool:
    """Say whether the default page is counted by a snapshot, without a walk."""
    client.queried.clear()
    service.search(principal, MemoryQuery())
    return client.queried == ["by_created_at", "by_changed_at"]


def test_the_second_page_is_counted_by_a_snapshot_right_after_many_were_created(
    indexes: Indexes, service: MemoryService, principal: Principal
) -> None:
    record_many(service, principal, 60)
    assert not is_counted(indexes, service, principal)
    assert is_counted(indexes, service, principal)
    assert service.search(principal, MemoryQuery()).total == 60


def test_a_gap_in_the_ids_delays_the_first_snapshot_until_it_can_no_longer_be_filled(
    client: DynamoDBClient,
    indexes: Indexes,
    service: MemoryService,
    principal: Principal,
    host: HostClock,
) -> None:
    service.record_batch(principal, drafts(3))
    with failing(client, "PutItem", LOST, after=False, attempts=ATTEMPTS), suppress(Exception):
        service.record(principal, drafts(1)[0])
    record_many(service, principal, 30)
    service.search(principal, MemoryQuery())
    assert not is_counted(indexes, service, principal)
    host.passed += MARGIN + 1
    service.search(principal, MemoryQuery())
    assert is_counted(indexes, service, principal)
    assert service.search(principal, MemoryQuery()).total == 33


class LatePut(OtherClient):
    """Does something before the first put of a memory that is created alone."""

    def __init__(self, client: DynamoDBClient, meanwhile: Callable[[], object]) -> None:
        super().__init__(client)
        self._meanwhile = [meanwhile]

    def put_item(self, **request: Any) -> Any:
        if self._meanwhile:
            self._meanwhile.pop()()
        return self.client.put_item(**request)


@pytest.mark.parametrize("seconds", [0, MARGIN - 1])
@pytest.mark.parametrize("stored", [1, 40])
def test_a_memory_that_was_on_its_way_when_a_snapshot_was_stored_is_listed(
    client: DynamoDBClient,
    over: Over,
    service: MemoryService,
    principal: Principal,
    host: HostClock,
    stored: int,
    seconds: int,
) -> None:
    record_many(service, principal, stored)
    service.search(principal, MemoryQuery())

    def meanwhile() -> None:
        record_many(service, principal, 60)
        host.passed += seconds
        for _ in range(2):
            service.search(principal, MemoryQuery())

    over(LatePut(client, meanwhile)).record(principal, drafts(1)[0])
    record_many(service, principal, 30)
    page = service.search(principal, MemoryQuery(offset=stored, limit=1))
    assert page.total == stored + 91
    assert ids(page.items) == [stored + 1]


def test_a_snapshot_follows_what_is_created_without_another_walk(
    client: DynamoDBClient,
    table: str,
    indexes: Indexes,
    service: MemoryService,
    principal: Principal,
) -> None:
    service.record_batch(principal, drafts(3))
    for _ in range(2):
        service.search(principal, MemoryQuery())
    for already in (3, 53, 103):
        record_many(service, principal, 50)
        assert is_counted(indexes, service, principal)
        assert service.search(principal, MemoryQuery()).total == already + 50
        (snapshot,) = snapshots(client, table, principal)
        assert snapshot["settled"] == {"N": str(already + 50)}


def test_a_snapshot_follows_what_is_changed_without_another_walk(
    client: DynamoDBClient,
    indexes: Indexes,
    table: str,
    service: MemoryService,
    principal: Principal,
    host: HostClock,
) -> None:
    record_many(service, principal, 110)
    service.search(principal, MemoryQuery())
    (before,) = snapshots(client, table, principal)
    for memory_id in range(1, 106):
        service.retire(principal, memory_id)
    assert service.search(principal, MemoryQuery()).total == 5
    assert snapshots(client, table, principal) == [before]
    host.passed += 2 * MARGIN
    assert is_counted(indexes, service, principal)
    (after,) = snapshots(client, table, principal)
    assert after["at"] != before["at"]
    assert after["walked_at"] == before["walked_at"]
    assert ids(service.search(principal, MemoryQuery()).items) == list(range(106, 111))


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("off", [-MARGIN / 3, 0, MARGIN / 3])
def test_a_change_is_seen_by_all_listings_whatever_the_hosts_clock_does_within_bounds(
    client: DynamoDBClient,
    over: Over,
    principal: Principal,
    host: HostClock,
    sort: Sort,
    off: float,
) -> None:
    service = over(FewNewest(client))
    service.record_batch(principal, drafts(12))
    queries = [
        MemoryQuery(sort=sort, limit=100),
        MemoryQuery(sort=sort, limit=100, status="active"),
        MemoryQuery(sort=sort, limit=100, tag="drinks"),
        MemoryQuery(sort=sort, limit=100, memory_type="fact"),
    ]
    for query in queries:
        assert service.search(principal, query).total == 12
    host.off = off
    service.retire(principal, 1)
    service.revise(principal, 2, MemoryPatch(status="invalid"))
    service.revise(principal, 3, MemoryPatch(tags=["food"]))
    service.revise(principal, 4, MemoryPatch(memory_type="event"))
    host.off = 0
    without = ({1}, {1, 2}, {1, 3}, {1, 4})
    for query, gone in zip(queries, without, strict=True):
        page = service.search(principal, query)
        assert set(ids(page.items)) == set(range(1, 13)) - gone
        assert page.total == 12 - len(gone)


def test_a_snapshot_of_one_agent_does_not_serve_another(
    client: DynamoDBClient, table: str, over: Over, principal: Principal
) -> None:
    service = over(FewNewest(client))
    another = replace(principal, agent_id="another")
    service.record_batch(principal, drafts(3) + drafts(3, is_public=False) + drafts(3))
    for _ in range(2):
        assert service.search(principal, ALL).total == 9
        assert service.search(another, ALL).total == 6
    assert len(snapshots(client, table, principal)) == 2
    service.share(principal, 1, PRIVATE)
    service.share(principal, 4, PermissionsPatch(shared_with_agents=["another"]))
    assert service.search(principal, ALL).total == 9
    assert ids(service.search(another, ALL).items) == [2, 3, 4, 7, 8, 9]
    assert service.search(replace(principal, user_id="other"), ALL).total == 0


def test_a_snapshot_is_made_anew_after_its_lifetime(
    client: DynamoDBClient,
    indexes: Indexes,
    table: str,
    service: MemoryService,
    principal: Principal,
    host: HostClock,
) -> None:
    service.record_batch(principal, drafts(3))
    service.search(principal, MemoryQuery())
    (snapshot,) = snapshots(client, table, principal)
    assert int(snapshot["expires_at"]["N"]) == int(host() + LIFETIME)
    host.passed += LIFETIME
    assert not is_counted(indexes, service, principal)
    assert is_counted(indexes, service, principal)


def test_a_counter_that_took_the_place_of_another_has_no_use_for_its_snapshots(
    client: DynamoDBClient, table: str, service: MemoryService, principal: Principal
) -> None:
    service.record_batch(principal, drafts(5))
    service.search(principal, MemoryQuery())
    pk = {"S": partition(principal.user_id)}
    for sk in ("COUNTER", *(f"MEM#{number:020}" for number in range(1, 6))):
        client.delete_item(TableName=table, Key={"pk": pk, "sk": {"S": sk}})
    service.record_batch(principal, drafts(3))
    assert ids(service.search(principal, ALL).items) == [1, 2, 3]
    assert service.search(principal, ALL).total == 3


def test_what_was_removed_is_no_longer_counted_and_no_snapshot_has_it_again(
    client: DynamoDBClient,
    table: str,
    over: Over,
    principal: Principal,
    clock: Clock,
    host: HostClock,
) -> None:
    indexes = Indexes(client)
    service = over(indexes)
    record_many(service, principal, 30)
    for memory_id in (1, 2):
        service.retire(principal, memory_id)
    deleted = MemoryQuery(status="deleted")
    for _ in range(2):
        assert service.search(principal, deleted).total == 2
    clock.advance(40 * 24 * 3600)
    store = DynamoDBStore(client, table, wall=host)
    Lifecycle(store.maintenance, Policies(remove_deleted_days=30), lambda _: None, clock).run()
    store.close()
    assert service.search(principal, deleted).total == 0
    assert service.search(principal, ALL).total == 28
    # An index may still have them.
    assert not is_counted(indexes, service, principal)
    host.passed += MARGIN + 1
    assert not is_counted(indexes, service, principal)
    assert is_counted(indexes, service, principal)
    assert service.search(principal, ALL).total == 28


@pytest.mark.parametrize("sort", SORTS)
def test_pages_of_few_and_of_most_are_those_of_a_store_that_looks_at_all(
    client: DynamoDBClient,
    over: Over,
    principal: Principal,
    clock: Clock,
    tmp_path: Path,
    sort: Sort,
) -> None:
    reference = SqliteStore(tmp_path / "memories.db")
    services = [over(FewNewest(client)), MemoryService(reference, clock)]
    for number in range(4):
        rare = [MemoryDraft(content="x", tags=["often", "rare"][number == 1 :])]
        for service in services:
            service.record_batch(principal, rare + drafts(24))
        clock.advance()
    for tag, limit in (("rare", 1), ("rare", 2), ("often", 1), ("drinks", 40)):
        for offset in range(0, 3 * limit, limit):
            query = MemoryQuery(sort=sort, tag=tag, limit=limit, offset=offset)
            page, expected = (service.search(principal, query) for service in services)
            assert page == expected
            clock.advance()
    reference.close()


FAILING = ["QueryIndex", "Query", "BatchGetItem", "GetItem", "PutItem"]


@pytest.mark.parametrize("attempts", [1, ATTEMPTS])
@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("call", FAILING)
def test_a_call_that_fails_makes_no_listing_wrong(
    client: DynamoDBClient,
    over: Over,
    principal: Principal,
    call: str,
    is_kept: bool,
    attempts: int,
) -> None:
    service = over(FewNewest(client))
    record_many(service, principal, 30)
    if is_kept:
        service.search(principal, MemoryQuery())
    record_many(service, principal, 30)
    service.retire(principal, 1)
    page = None
    with failing(client, call, LOST, after=True, attempts=attempts):
        try:
            page = service.search(principal, MemoryQuery())
        except StoreUnavailable:
            assert attempts == ATTEMPTS
            # To keep a snapshot is no part of what was asked for.
            assert call not in {"GetItem", "PutItem"}
    for answer in (page, service.search(principal, MemoryQuery())):
        assert answer is None or (answer.total, answer.items[0].id) == (59, 2)


def test_what_was_erased_with_its_agent_is_counted_no_more(
    indexes: Indexes, service: MemoryService, principal: Principal
) -> None:
    other = Principal(principal.user_id, "other", principal.scopes)
    service.accounts.seen(other)
    record_many(service, other, 30)
    record_many(service, principal, 30)
    service.search(principal, MemoryQuery())
    assert is_counted(indexes, service, principal)

    while not service.erasure.erase_agent(principal, "other").complete:
        pass

    page = service.search(principal, MemoryQuery())
    assert (page.total, page.items[0].id) == (30, 31)
    assert service.accounts.me(principal).memories.active == 30

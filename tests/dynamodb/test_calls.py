"""Requests to DynamoDB per operation: they are what the service costs, so they are held."""

from collections import Counter
from itertools import pairwise
from math import ceil

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.calls import recorded
from dynamodb.moto_table import ShortWalks
from memories.fields import Sort
from memories.models import MemoryDraft, MemoryPatch, MemoryQuery, PermissionsPatch
from memories.principal import Principal
from memories.relation_models import RelatedQuery, RelationDraft, RelationQuery
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.port_relations import RelationRecord
from memories.tag_models import TagQuery

SORTS: list[Sort] = ["id", "created_at", "updated_at", "last_accessed_at"]


def draft(content: str = "Likes tea") -> MemoryDraft:
    return MemoryDraft(content=content, tags=["drinks"])


def test_a_create_is_two_requests(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    with recorded(client) as requests:
        service.record(principal, draft())
    assert requests == ["UpdateItem", "PutItem"]


def test_a_batch_is_two_requests(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    with recorded(client) as requests:
        service.record_batch(principal, [draft()] * 25)
    assert requests == ["UpdateItem", "TransactWriteItems"]


@pytest.mark.parametrize("repeats", [0, 1])
@pytest.mark.parametrize("count", [1, 25])
def test_to_record_with_a_key_is_two_requests_the_first_time_and_again(
    client: DynamoDBClient, service: MemoryService, principal: Principal, count: int, repeats: int
) -> None:
    for _ in range(repeats):
        service.recording.batch(principal, [draft()] * count, "k")
    with recorded(client) as requests:
        service.recording.batch(principal, [draft()] * count, "k")
    assert requests == ["UpdateItem", "TransactWriteItems"]


def test_a_read_is_one_request(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    memory = service.record(principal, draft())
    with recorded(client) as requests:
        service.inspect(principal, memory.id)
    assert requests == ["UpdateItem"]


def test_a_retirement_is_one_request(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    memory = service.record(principal, draft())
    with recorded(client) as requests:
        service.retire(principal, memory.id)
    assert requests == ["UpdateItem"]


def test_a_revision_is_two_requests(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    memory = service.record(principal, draft())
    with recorded(client) as requests:
        service.revise(principal, memory.id, MemoryPatch(content="Likes coffee"))
    assert requests == ["GetItem", "UpdateItem"]


def test_a_revision_that_changes_nothing_is_one_request(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    memory = service.record(principal, draft())
    with recorded(client) as requests:
        service.revise(principal, memory.id, MemoryPatch(content="Likes tea"))
    assert requests == ["GetItem"]


@pytest.mark.parametrize("patch", [PermissionsPatch(is_public=False), PermissionsPatch()])
def test_a_change_of_grants_is_one_request(
    client: DynamoDBClient, service: MemoryService, principal: Principal, patch: PermissionsPatch
) -> None:
    memory = service.record(principal, draft())
    with recorded(client) as requests:
        service.share(principal, memory.id, patch)
    assert requests == ["UpdateItem"]


@pytest.mark.parametrize("sort", SORTS)
def test_a_page_of_none_is_two_requests(
    client: DynamoDBClient, service: MemoryService, principal: Principal, sort: Sort
) -> None:
    with recorded(client) as requests:
        service.search(principal, MemoryQuery(sort=sort))
    assert sorted(requests) == ["Query", "QueryIndex"]


@pytest.mark.parametrize("size", [1, 25, 26, 100])
def test_a_page_is_its_index_pages_two_more_and_one_for_each_25_memories(
    client: DynamoDBClient, service: MemoryService, principal: Principal, size: int
) -> None:
    for _ in range(4):
        service.record_batch(principal, [draft()] * 25)
    service.record(principal, draft())
    with recorded(client) as requests:
        service.search(principal, MemoryQuery(sort="updated_at", limit=size))
    assert Counter(requests) == {
        "QueryIndex": 1,
        "Query": 1,
        "BatchGetItem": 1,
        "BatchExecuteStatement": ceil(size / 25),
    }


@pytest.mark.parametrize("sort", SORTS)
def test_a_page_of_many_is_six_requests_once_they_were_counted(
    client: DynamoDBClient, table: str, clock: Clock, principal: Principal, sort: Sort
) -> None:
    service = MemoryService(DynamoDBStore(client, table, first_look=20), clock)
    for _ in range(2):
        service.record_batch(principal, [draft()] * 25)
    page = {"Query": 1, "BatchGetItem": 2, "BatchExecuteStatement": 1}
    with recorded(client) as requests:
        service.search(principal, MemoryQuery(sort=sort))
    assert Counter(requests) == page | {"QueryIndex": 2, "GetItem": 1, "PutItem": 1}
    with recorded(client) as requests:
        service.search(principal, MemoryQuery(sort=sort))
    assert Counter(requests) == page | {"QueryIndex": 2}


def test_a_walk_is_one_request_for_each_page_of_the_index(
    client: DynamoDBClient, table: str, clock: Clock, principal: Principal
) -> None:
    service = MemoryService(DynamoDBStore(ShortWalks(client).as_client(), table), clock)
    service.record_batch(principal, [draft()] * 10)
    with recorded(client) as requests:
        service.search(principal, MemoryQuery(sort="created_at"))
    assert Counter(requests) == {
        "QueryIndex": 1 + ceil(10 / ShortWalks.PAGE),
        "Query": 1,
        "BatchGetItem": 2,
        "GetItem": 1,
        "PutItem": 1,
        "BatchExecuteStatement": 1,
    }


def test_a_page_with_a_text_walks_the_table_alone(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    service.record_batch(principal, [draft()] * 10)
    with recorded(client) as requests:
        service.search(principal, MemoryQuery(q="TEA", sort="updated_at"))
    assert requests == ["Query", "BatchGetItem", "BatchExecuteStatement"]


PLAIN = RelationDraft()


def test_a_new_relation_is_one_request(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    one, other = service.record_batch(principal, [draft()] * 2)
    with recorded(client) as requests:
        service.relations.relate(principal, one.id, "follows", other.id, PLAIN)
    assert requests == ["TransactWriteItems"]


def test_a_relation_that_invalidates_is_one_request(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    one, other = service.record_batch(principal, [draft()] * 2)
    with recorded(client) as requests:
        service.relations.relate(
            principal, one.id, "supersedes", other.id, RelationDraft(invalidate=True)
        )
    assert requests == ["TransactWriteItems"]


def test_a_relation_that_is_there_or_is_removed_is_two_requests(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    one, other = service.record_batch(principal, [draft()] * 2)
    service.relations.relate(principal, one.id, "follows", other.id, PLAIN)
    with recorded(client) as requests:
        service.relations.relate(principal, one.id, "follows", other.id, PLAIN)
    assert requests == ["TransactWriteItems"] * 2
    with recorded(client) as requests:
        service.relations.unrelate(principal, one.id, "follows", other.id)
    assert requests == ["GetItem", "TransactWriteItems"]


def test_the_relations_of_a_memory_are_a_query_each_way_and_a_batch_for_each_100_ends(
    client: DynamoDBClient, service: MemoryService, store: DynamoDBStore, principal: Principal
) -> None:
    ids = [
        memory.id for _ in range(5) for memory in service.record_batch(principal, [draft()] * 25)
    ]
    with recorded(client) as requests:
        service.relations.listed(principal, ids[0], RelationQuery())
    assert Counter(requests) == {"Query": 2, "BatchGetItem": 1}
    for other in ids[1:]:
        store.relations.put(principal, RelationRecord(ids[0], "follows", other, 1, "2026", "agent"))
    with recorded(client) as requests:
        service.relations.listed(principal, ids[0], RelationQuery(direction="out"))
    assert Counter(requests) == {"Query": 1, "BatchGetItem": 2}
    with recorded(client) as requests:
        assert len(store.relations.out_of(principal, ids[0], ids[2])) == 124
    assert Counter(requests) == {"Query": 1, "BatchGetItem": 2}


@pytest.mark.parametrize("related", [False, True])
def test_the_full_view_of_a_page_is_two_queries_more_for_each_memory_and_a_batch(
    client: DynamoDBClient, service: MemoryService, principal: Principal, related: bool
) -> None:
    ids = [memory.id for memory in service.record_batch(principal, [draft()] * 10)]
    if related:
        for one, other in pairwise(ids):
            service.relations.relate(principal, one, "follows", other, PLAIN)
    with recorded(client) as requests:
        service.search(principal, MemoryQuery(), full=True)
    assert Counter(requests) == {
        "QueryIndex": 1,
        "Query": 1 + 2 * 10,
        "BatchGetItem": 1 + related,
        "BatchExecuteStatement": 1,
    }
    with recorded(client) as requests:
        service.inspect(principal, ids[0], full=True)
    assert Counter(requests) == {"UpdateItem": 1, "Query": 2} | (
        {"BatchGetItem": 1} if related else {}
    )


def test_what_is_around_a_memory_is_two_queries_for_each_that_is_passed(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    ids = [memory.id for memory in service.record_batch(principal, [draft()] * 7)]
    for other in ids[1:4]:
        service.relations.relate(principal, ids[0], "follows", other, PLAIN)
    for one, other in pairwise(ids[3:]):
        service.relations.relate(principal, one, "follows", other, PLAIN)
    with recorded(client) as requests:
        found = service.relations.around(principal, ids[0], RelatedQuery(depth=3))
    assert len(found.items) == 5
    assert Counter(requests) == {
        "GetItem": 1,
        "Query": 2 * (1 + 3 + 1),
        "BatchGetItem": 3 + 1,
        "BatchExecuteStatement": 1,
    }


def test_tags_are_one_request_for_each_page_of_the_index(
    client: DynamoDBClient, table: str, clock: Clock, principal: Principal
) -> None:
    service = MemoryService(DynamoDBStore(ShortWalks(client).as_client(), table), clock)
    service.record_batch(principal, [draft()] * 10)
    with recorded(client) as requests:
        service.tags.listed(principal, TagQuery())
    assert requests == ["QueryIndex"] * ceil(10 / ShortWalks.PAGE)


def test_readiness_is_one_request(client: DynamoDBClient, service: MemoryService) -> None:
    with recorded(client) as requests:
        service.check()
    assert requests == ["GetItem"]

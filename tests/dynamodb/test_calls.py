"""Requests to DynamoDB per operation: they are what the service costs, so they are held."""

from collections import Counter
from math import ceil

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.calls import recorded
from dynamodb.moto_table import ShortWalks
from memories.fields import Sort
from memories.models import MemoryDraft, MemoryPatch, MemoryQuery, PermissionsPatch
from memories.principal import Principal
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore

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


def test_a_longer_index_is_one_request_for_each_of_its_pages(
    client: DynamoDBClient, table: str, clock: Clock, principal: Principal
) -> None:
    service = MemoryService(DynamoDBStore(ShortWalks(client).as_client(), table), clock)
    service.record_batch(principal, [draft()] * 10)
    with recorded(client) as requests:
        service.search(principal, MemoryQuery(sort="created_at"))
    assert Counter(requests) == {
        "QueryIndex": ceil(10 / ShortWalks.PAGE),
        "Query": 1,
        "BatchGetItem": 1,
        "BatchExecuteStatement": 1,
    }


def test_a_page_with_a_text_walks_the_table_alone(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    service.record_batch(principal, [draft()] * 10)
    with recorded(client) as requests:
        service.search(principal, MemoryQuery(q="TEA", sort="updated_at"))
    assert requests == ["Query", "BatchGetItem", "BatchExecuteStatement"]


def test_readiness_is_one_request(client: DynamoDBClient, service: MemoryService) -> None:
    with recorded(client) as requests:
        service.check()
    assert requests == ["GetItem"]

"""Throttling and time-outs at every call: the answer is right, or the store is unavailable."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
)
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.calls import LOST, failing, recorded
from memories.bootstrap import ATTEMPTS
from memories.errors import StoreUnavailable
from memories.models import (
    Memory,
    MemoryDraft,
    MemoryPatch,
    MemoryQuery,
    Page,
    PermissionsPatch,
)
from memories.principal import Principal
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.dynamodb.keys import COUNTER, partition
from memories.stores.port import Record, Store
from memories.stores.sqlite import SqliteStore


def refusal(code: str, status: int) -> ClientError:
    return ClientError(
        {"Error": {"Code": code, "Message": ""}, "ResponseMetadata": {"HTTPStatusCode": status}},  # type: ignore[typeddict-item]
        "AnyOperation",
    )


BEFORE: dict[str, Exception] = {
    "throttled": refusal("ProvisionedThroughputExceededException", 400),
    "an error inside": refusal("InternalServerError", 500),
    "no connection": EndpointConnectionError(endpoint_url="https://dynamodb.example"),
}
AFTER: dict[str, Exception] = {
    "no answer in time": LOST,
    "an error inside, after the write": refusal("InternalServerError", 500),
}
FAULTS = [
    *(pytest.param(error, False, id=name) for name, error in BEFORE.items()),
    *(pytest.param(error, True, id=name) for name, error in AFTER.items()),
]


def draft(content: str) -> MemoryDraft:
    return MemoryDraft(content=content, tags=["drinks"])


@dataclass
class Reference:
    service: MemoryService
    store: Store


@dataclass
class Operation:
    run: Callable[[MemoryService, Principal], object]
    requests: list[str]


def searching(**query: Any) -> Callable[[MemoryService, Principal], object]:
    return lambda service, principal: service.search(principal, MemoryQuery(**query))


# On the memories of STORED.
OPERATIONS = {
    "record": Operation(
        lambda service, principal: service.record(principal, draft("new")),
        ["UpdateItem", "PutItem"],
    ),
    "record a batch": Operation(
        lambda service, principal: service.record_batch(principal, [draft("new")] * 3),
        ["UpdateItem", "TransactWriteItems"],
    ),
    "record with a key": Operation(
        lambda service, principal: service.recording.one(principal, draft("new"), "k"),
        ["UpdateItem", "TransactWriteItems"],
    ),
    "record a batch with a key": Operation(
        lambda service, principal: service.recording.batch(principal, [draft("new")] * 3, "k"),
        ["UpdateItem", "TransactWriteItems"],
    ),
    "inspect": Operation(
        lambda service, principal: service.inspect(principal, 2),
        ["UpdateItem"],
    ),
    "revise": Operation(
        lambda service, principal: service.revise(principal, 2, MemoryPatch(content="Changed")),
        ["GetItem", "UpdateItem"],
    ),
    "revise a version": Operation(
        lambda service, principal: service.revise(
            principal, 2, MemoryPatch(tags=["changed"]), expected_version=1
        ),
        ["GetItem", "UpdateItem"],
    ),
    "retire": Operation(
        lambda service, principal: service.retire(principal, 2),
        ["UpdateItem"],
    ),
    "retire a version": Operation(
        lambda service, principal: service.retire(principal, 2, expected_version=1),
        ["UpdateItem"],
    ),
    "share": Operation(
        lambda service, principal: service.share(
            principal, 2, PermissionsPatch(is_public=False, shared_with_agents=["another"])
        ),
        ["UpdateItem"],
    ),
    "search": Operation(
        searching(sort="updated_at", tag="drinks"),
        ["Query", "QueryIndex", "BatchGetItem", "BatchExecuteStatement"],
    ),
    "search for a text": Operation(
        searching(q="TEA"),
        ["Query", "BatchGetItem", "BatchExecuteStatement"],
    ),
    "be ready": Operation(
        lambda service, principal: service.check(),
        ["GetItem"],
    ),
}
CALLS = [
    pytest.param(operation, request, id=f"{name}, {request}")
    for name, operation in OPERATIONS.items()
    for request in operation.requests
]


STORED = [draft(content) for content in ("Likes tea", "Likes iced tea", "Likes coffee")]


@pytest.fixture(autouse=True)
def stored(service: MemoryService, principal: Principal) -> None:
    service.record_batch(principal, STORED)


@pytest.fixture
def reference(principal: Principal, clock: Clock, tmp_path: Path) -> Iterator[Reference]:
    """The same memories in a store that does not fail."""
    store = SqliteStore(tmp_path / "memories.db")
    service = MemoryService(store, clock)
    service.record_batch(principal, STORED)
    clock.advance()
    yield Reference(service, store)
    store.close()


def state(store: Store, principal: Principal) -> list[Record]:
    """Return all records, without their ids: a failure may leave a gap between them."""
    found = [store.get(principal, memory_id) for memory_id in range(1, 20)]
    return [record._replace(id=0) for record in found if record]


def facts(answer: object) -> object:
    """Return an answer without the ids in it."""
    match answer:
        case Page():
            return facts(answer.items), answer.total, answer.has_more
        case [*memories]:
            return [facts(memory) for memory in memories]
        case Memory():
            return answer.model_dump(exclude={"id"})
    return answer


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_each_operation_makes_just_the_calls_that_are_made_to_fail_below(
    client: DynamoDBClient, service: MemoryService, principal: Principal, operation: Operation
) -> None:
    with recorded(client) as requests:
        operation.run(service, principal)
    assert sorted(requests) == sorted(operation.requests)


@pytest.mark.parametrize(("error", "after"), FAULTS)
@pytest.mark.parametrize(("operation", "call"), CALLS)
def test_a_call_that_fails_once_is_made_again_and_has_its_effect_once(
    client: DynamoDBClient,
    store: DynamoDBStore,
    service: MemoryService,
    principal: Principal,
    reference: Reference,
    operation: Operation,
    call: str,
    error: Exception,
    after: bool,
) -> None:
    with failing(client, call, error, after=after, attempts=1):
        answer = operation.run(service, principal)

    assert facts(answer) == facts(operation.run(reference.service, principal))
    assert state(store, principal) == state(reference.store, principal)


@pytest.mark.parametrize(("error", "after"), FAULTS)
@pytest.mark.parametrize(("operation", "call"), CALLS)
def test_a_call_that_keeps_failing_is_an_unavailable_store_with_nothing_half_written(
    client: DynamoDBClient,
    store: DynamoDBStore,
    service: MemoryService,
    principal: Principal,
    reference: Reference,
    operation: Operation,
    call: str,
    error: Exception,
    after: bool,
) -> None:
    with (
        failing(client, call, error, after=after, attempts=ATTEMPTS),
        pytest.raises(StoreUnavailable),
    ):
        operation.run(service, principal)

    unchanged = state(reference.store, principal)
    operation.run(reference.service, principal)
    # Whether a write whose answer was lost took effect cannot be known, but never a part of it.
    possible = [unchanged, state(reference.store, principal)] if after else [unchanged]
    assert state(store, principal) in possible


@pytest.mark.parametrize("call", ["UpdateItem", "PutItem"])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("attempts", [1, ATTEMPTS])
def test_no_id_is_given_twice(
    client: DynamoDBClient,
    service: MemoryService,
    principal: Principal,
    call: str,
    after: bool,
    attempts: int,
) -> None:
    given = []
    for _ in range(3):
        with (
            failing(client, call, LOST, after=after, attempts=attempts),
            suppress(StoreUnavailable),
        ):
            given.append(service.record(principal, draft("new")).id)
        given.append(service.record(principal, draft("new")).id)
    assert given == sorted(set(given))
    assert given[0] > len(STORED)


@pytest.mark.parametrize("call", ["UpdateItem", "TransactWriteItems"])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("attempts", [1, ATTEMPTS])
def test_no_batch_is_stored_in_part(
    client: DynamoDBClient,
    service: MemoryService,
    principal: Principal,
    call: str,
    after: bool,
    attempts: int,
) -> None:
    with (
        failing(client, call, LOST, after=after, attempts=attempts),
        suppress(StoreUnavailable),
    ):
        service.record_batch(principal, [draft("new")] * 25)
    assert service.search(principal, MemoryQuery(q="new")).total in {0, 25}


def test_a_counter_that_was_set_back_overwrites_no_memory(
    client: DynamoDBClient, table: str, service: MemoryService, principal: Principal
) -> None:
    before = service.search(principal, MemoryQuery()).items
    counter = {"pk": {"S": partition(principal.user_id)}, "sk": {"S": COUNTER}}
    client.delete_item(TableName=table, Key=counter)
    with pytest.raises(StoreUnavailable):
        service.record(principal, draft("new"))
    with pytest.raises(StoreUnavailable):
        service.record_batch(principal, [draft("new")] * 3)
    assert service.search(principal, MemoryQuery()).items == before
    assert service.record(principal, draft("new")).id > before[-1].id


def test_a_request_that_dynamodb_does_not_understand_is_no_unavailable_store(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    mistake = refusal("ValidationException", 400)
    with (
        failing(client, "UpdateItem", mistake, after=False, attempts=ATTEMPTS),
        pytest.raises(ClientError),
    ):
        service.inspect(principal, 1)

"""Calls that DynamoDB answers in part, as moto never does."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.moto_table import OtherClient, ShortWalks
from memories.errors import StoreUnavailable
from memories.fields import Sort
from memories.models import MemoryDraft, MemoryQuery
from memories.principal import Principal
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore

SORTS: list[Sort] = ["id", "created_at", "updated_at", "last_accessed_at"]
PASSING = ["ThrottlingError", "ProvisionedThroughputExceeded", "TransactionConflict"]


class OneKeyAtATime(OtherClient):
    """Returns one of the wanted items, and leaves the others for another time."""

    def batch_get_item(self, RequestItems: dict[str, Any]) -> Any:  # noqa: N803
        ((table, wanted),) = RequestItems.items()
        first, *others = wanted["Keys"]
        answer: Any = self.client.batch_get_item(RequestItems={table: wanted | {"Keys": [first]}})
        if others:
            answer["UnprocessedKeys"] = {table: wanted | {"Keys": others}}
        return answer


class FailingStatements(OtherClient):
    """Fails the first statement of each batch with ``code``, as often as ``times`` says."""

    def __init__(self, client: DynamoDBClient, code: str, times: int) -> None:
        super().__init__(client)
        self._code = code
        self._times = times

    def batch_execute_statement(self, Statements: list[Any]) -> Any:  # noqa: N803
        if not self._times:
            return self.client.batch_execute_statement(Statements=Statements)
        self._times -= 1
        done: list[Any] = []
        if Statements[1:]:
            done = self.client.batch_execute_statement(Statements=Statements[1:])["Responses"]
        return {"Responses": [{"Error": {"Code": self._code}}, *done]}


class CancelledTransactions(OtherClient):
    """Cancels transactions, as often as ``times`` says."""

    def __init__(self, client: DynamoDBClient, code: str, times: int) -> None:
        super().__init__(client)
        self._code = code
        self._times = times

    def transact_write_items(self, **request: Any) -> Any:
        if not self._times:
            return self.client.transact_write_items(**request)
        self._times -= 1
        codes = ["None"] * (len(request["TransactItems"]) - 1) + [self._code]
        answer: Any = {
            "Error": {"Code": "TransactionCanceledException", "Message": ""},
            "CancellationReasons": [{"Code": code} for code in codes],
            "ResponseMetadata": {},
        }
        raise ClientError(answer, "TransactWriteItems")


class Pauses:
    """Counts the pauses between tries, and does not wait."""

    def __init__(self) -> None:
        self.tries: list[int] = []

    def __call__(self, tries: int) -> None:
        self.tries.append(tries)


Over = Callable[[OtherClient], MemoryService]


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def over(table: str, clock: Clock, pauses: Pauses) -> Over:
    """Make a service over the table through another client."""
    return lambda client: MemoryService(DynamoDBStore(client.as_client(), table, pauses), clock)


def drafts(count: int) -> list[MemoryDraft]:
    return [
        MemoryDraft(content=f"Likes {number}", tags=["tenth" if number % 10 == 0 else "drinks"])
        for number in range(count)
    ]


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("q", [None, "LIKES"])
def test_every_match_is_found_over_many_pages_of_an_index(
    client: DynamoDBClient, over: Over, principal: Principal, sort: Sort, q: str | None
) -> None:
    service = over(ShortWalks(client))
    service.record_batch(principal, drafts(25))
    every = MemoryQuery(sort=sort, limit=3) if q is None else MemoryQuery(sort=sort, limit=3, q=q)
    tenth = every.model_copy(update={"tag": "tenth"})
    assert service.search(principal, every).total == 25
    found = service.search(principal, tenth).items
    assert sorted(memory.id for memory in found) == [1, 11, 21]


def test_keys_left_unprocessed_are_asked_for_again(
    client: DynamoDBClient, over: Over, principal: Principal, pauses: Pauses
) -> None:
    service = over(OneKeyAtATime(client))
    service.record_batch(principal, drafts(4))
    assert [memory.id for memory in service.search(principal, MemoryQuery()).items] == [1, 2, 3, 4]
    assert pauses.tries == [1, 2, 3]


def test_keys_that_stay_unprocessed_are_an_unavailable_store(
    client: DynamoDBClient, over: Over, principal: Principal
) -> None:
    service = over(OneKeyAtATime(client))
    service.record_batch(principal, drafts(5))
    with pytest.raises(StoreUnavailable):
        service.search(principal, MemoryQuery())


@pytest.mark.parametrize("code", PASSING)
def test_a_refresh_that_failed_is_made_again(
    client: DynamoDBClient, over: Over, principal: Principal, clock: Clock, code: str
) -> None:
    service = over(FailingStatements(client, code, times=2))
    service.record_batch(principal, drafts(3))
    page = service.search(principal, MemoryQuery())
    assert [memory.last_accessed_at for memory in page.items] == [clock.now] * 3
    by_access = service.search(principal, MemoryQuery(sort="last_accessed_at"))
    assert [memory.id for memory in by_access.items] == [3, 2, 1]


def test_a_refresh_that_keeps_failing_is_an_unavailable_store(
    client: DynamoDBClient, over: Over, principal: Principal
) -> None:
    service = over(FailingStatements(client, "ThrottlingError", times=10))
    service.record_batch(principal, drafts(3))
    with pytest.raises(StoreUnavailable):
        service.search(principal, MemoryQuery())


def test_a_memory_erased_while_it_is_read_is_not_shown_nor_counted(
    client: DynamoDBClient, over: Over, principal: Principal, pauses: Pauses
) -> None:
    service = over(FailingStatements(client, "ConditionalCheckFailed", times=1))
    service.record_batch(principal, drafts(3))
    page = service.search(principal, MemoryQuery())
    assert [memory.id for memory in page.items] == [2, 3]
    assert page.total == 2
    assert pauses.tries == []


@pytest.mark.parametrize("code", PASSING)
def test_a_batch_that_met_another_write_is_tried_again(
    client: DynamoDBClient, over: Over, principal: Principal, pauses: Pauses, code: str
) -> None:
    service = over(CancelledTransactions(client, code, times=2))
    memories = service.record_batch(principal, drafts(3))
    assert [memory.id for memory in memories] == [1, 2, 3]
    assert pauses.tries == [1, 2]
    assert service.search(principal, MemoryQuery()).total == 3


@pytest.mark.parametrize("code", [*PASSING, "ValidationError"])
def test_a_batch_that_keeps_being_cancelled_is_an_unavailable_store_and_stores_nothing(
    client: DynamoDBClient, over: Over, principal: Principal, code: str
) -> None:
    service = over(CancelledTransactions(client, code, times=10))
    with pytest.raises(StoreUnavailable):
        service.record_batch(principal, drafts(3))
    assert service.search(principal, MemoryQuery()).total == 0

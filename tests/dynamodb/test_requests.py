"""Requests with a key when calls fail: each is done once, however often it has to be repeated."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.calls import LOST, failing
from dynamodb.moto_table import OtherClient
from memories.bootstrap import ATTEMPTS
from memories.errors import RequestInProgress, StoreUnavailable
from memories.models import MemoryDraft, MemoryQuery
from memories.principal import Principal
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.dynamodb.keys import idempotency_table_of

DRAFTS = [MemoryDraft(content=f"Fact {number}", tags=["facts"]) for number in range(3)]


class Canceling(OtherClient):
    """Cancels the first transaction, of a request and one memory, on account of the request."""

    def __init__(self, client: DynamoDBClient, code: str) -> None:
        super().__init__(client)
        self._errors = [canceled(code)]

    def transact_write_items(self, **transaction: Any) -> Any:
        if self._errors:
            raise self._errors.pop()
        return self.client.transact_write_items(**transaction)


def store_over(client: OtherClient, table: str) -> DynamoDBStore:
    return DynamoDBStore(client.as_client(), table, pause=lambda tries: None)


def canceled(code: str) -> ClientError:
    response: Any = {
        "Error": {"Code": "TransactionCanceledException", "Message": ""},
        "CancellationReasons": [{"Code": code}, {"Code": "None"}],
        "ResponseMetadata": {"HTTPStatusCode": 400, "RetryAttempts": 0},
    }
    return ClientError(response, "TransactWriteItems")


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("call", ["UpdateItem", "TransactWriteItems"])
def test_a_repeat_after_a_crash_at_any_call_leaves_each_memory_once(
    client: DynamoDBClient,
    service: MemoryService,
    principal: Principal,
    clock: Clock,
    call: str,
    after: bool,
    count: int,
) -> None:
    drafts, crashed_at = DRAFTS[:count], clock.now
    with (
        failing(client, call, LOST, after=after, attempts=ATTEMPTS),
        pytest.raises(StoreUnavailable),
    ):
        service.recording.batch(principal, drafts, "k")
    clock.advance(60)

    answer = service.recording.batch(principal, drafts, "k")
    stored = call == "TransactWriteItems" and after
    assert answer.replayed == stored
    assert [memory.created_at for memory in answer.memories] == (
        [crashed_at if stored else clock.now] * count
    )
    page = service.search(principal, MemoryQuery())
    assert [memory.id for memory in page.items] == [memory.id for memory in answer.memories]
    assert service.recording.batch(principal, drafts, "k") == answer._replace(replayed=True)


def test_a_repeat_that_meets_the_first_in_the_table_is_told_that_it_is_running(
    client: DynamoDBClient, table: str, principal: Principal
) -> None:
    service = MemoryService(store_over(Canceling(client, "TransactionConflict"), table))
    with pytest.raises(RequestInProgress):
        service.recording.one(principal, DRAFTS[0], "k")
    assert not service.recording.one(principal, DRAFTS[0], "k").replayed


def test_a_throttled_table_of_requests_is_tried_again(
    client: DynamoDBClient, table: str, principal: Principal
) -> None:
    service = MemoryService(store_over(Canceling(client, "ThrottlingError"), table))
    assert not service.recording.one(principal, DRAFTS[0], "k").replayed
    assert service.search(principal, MemoryQuery()).total == 1


def test_a_request_that_another_overtook_is_answered_as_that_one(
    client: DynamoDBClient, service: MemoryService, store: DynamoDBStore, principal: Principal
) -> None:
    other = MemoryService(store)  # in another process
    answers = []

    def another() -> None:
        answers.append(other.recording.one(principal, DRAFTS[0], "k"))

    with failing(client, "TransactWriteItems", LOST, after=False, attempts=1, meanwhile=another):
        mine = service.recording.one(principal, DRAFTS[0], "k")

    assert mine == answers[0]._replace(replayed=True)
    assert service.search(principal, MemoryQuery()).total == 1


def test_what_is_kept_of_a_request_is_nothing_of_what_was_sent(
    client: DynamoDBClient, table: str, service: MemoryService, principal: Principal, clock: Clock
) -> None:
    secret = MemoryDraft(content="A secret", tags=["private"])
    service.recording.one(principal, secret, "my key")

    (item,) = client.scan(TableName=idempotency_table_of(table))["Items"]
    assert item.keys() == {
        *("pk", "sk", "fingerprint", "first_id", "created_at", "expires_at", "write_token")
    }
    assert not any(text in str(item) for text in ("secret", "private", "my key"))
    assert int(item["expires_at"]["N"]) == clock.moment.timestamp() + 24 * 60 * 60

"""The stream function: from changes of the table to entries of the log, each once."""

import json
from copy import deepcopy
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.calls import LOST, failing
from dynamodb.table_changes import Changes, is_wanted, stream_handler
from log_lines import forget_logger
from memories.access_log import LogQuery
from memories.bootstrap import ATTEMPTS
from memories.models import MemoryDraft, MemoryPatch, MemoryQuery
from memories.principal import SCOPES, Principal
from memories.service import MemoryService
from memories.stores.dynamodb import keys
from memories.stores.dynamodb.items import key
from memories.stores.port_log import LOG_DAYS
from stream.app import Handler

EVENT = Path(__file__).parents[2] / "events/stream.json"
SECRET = "the-treasure-is-under-the-oak"


@pytest.fixture
def changes(client: DynamoDBClient, table: str) -> Changes:
    return Changes(client, table)


@pytest.fixture
def stream(client: DynamoDBClient, table: str) -> Handler:
    return stream_handler(client, table)


def used(service: MemoryService, principal: Principal, clock: Clock) -> None:
    """Record three memories, read each, and change the first."""
    service.record_batch(principal, [MemoryDraft(content=SECRET, tags=["test"])] * 3)
    clock.advance()
    service.search(principal, MemoryQuery())
    clock.advance()
    service.revise(principal, 1, MemoryPatch(importance=9))


def logs(service: MemoryService, principal: Principal) -> list[list[str]]:
    pages = (service.log.page(principal, memory_id, LogQuery()) for memory_id in (1, 2, 3))
    return [[access.access_type for access in page.items] for page in pages]


ALL = [["update", "read"], ["read"], ["read"]]


def entries(client: DynamoDBClient, table: str) -> list[Any]:
    items = client.scan(TableName=table)["Items"]
    return [item for item in items if item["pk"]["S"].startswith("LOG#")]


def test_a_batch_that_is_delivered_twice_is_logged_once(
    service: MemoryService, principal: Principal, clock: Clock, changes: Changes, stream: Handler
) -> None:
    used(service, principal, clock)
    event = changes.event()

    for _ in range(2):
        assert stream(deepcopy(event), None) == {"batchItemFailures": []}
        assert logs(service, principal) == ALL


def test_a_record_that_is_poison_is_reported_alone_and_the_rest_are_logged(
    service: MemoryService, principal: Principal, clock: Clock, changes: Changes, stream: Handler
) -> None:
    used(service, principal, clock)
    event = changes.event()
    del event["Records"][1]["dynamodb"]["NewImage"]["last_accessed_at"]["S"]
    number = event["Records"][1]["dynamodb"]["SequenceNumber"]

    for _ in range(2):
        assert stream(deepcopy(event), None) == {"batchItemFailures": [{"itemIdentifier": number}]}
        assert logs(service, principal) == [ALL[0], [], ALL[2]]


def test_a_batch_of_poison_alone_is_reported_too(stream: Handler) -> None:
    record = {"eventID": "1", "dynamodb": {"SequenceNumber": "7", "NewImage": {}}}

    assert stream({"Records": [record]}, None) == {"batchItemFailures": [{"itemIdentifier": "7"}]}


@pytest.mark.parametrize("call", ["PutItem", "GetItem"])
@pytest.mark.parametrize("after", [False, True])
def test_what_the_store_does_not_take_is_reported_and_logged_when_it_is_tried_again(
    client: DynamoDBClient,
    service: MemoryService,
    principal: Principal,
    clock: Clock,
    changes: Changes,
    stream: Handler,
    call: str,
    after: bool,
) -> None:
    used(service, principal, clock)
    event = changes.event()

    with failing(client, call, LOST, after=after, attempts=ATTEMPTS):
        failed = stream(deepcopy(event), None)["batchItemFailures"]
    assert [each["itemIdentifier"] for each in failed] == [
        event["Records"][0]["dynamodb"]["SequenceNumber"]
    ]
    assert stream(event, None) == {"batchItemFailures": []}
    assert logs(service, principal) == ALL


def test_only_changes_that_can_be_accesses_invoke_the_function(
    client: DynamoDBClient,
    table: str,
    service: MemoryService,
    principal: Principal,
    clock: Clock,
    changes: Changes,
    stream: Handler,
) -> None:
    used(service, principal, clock)
    service.retire(principal, 2)
    records = changes.all()
    wanted = [record for record in records if is_wanted(record)]
    assert {record["eventName"] for record in wanted} == {"MODIFY"}
    prefixes = {record["dynamodb"]["Keys"]["sk"]["S"][:4] for record in wanted}
    assert prefixes == {keys.MEMORY_PREFIX}
    assert len(wanted) == 3 + 1 + 1  # reads, an update, a retirement

    stream({"Records": wanted}, None)
    client.delete_item(TableName=table, Key=key(principal.user_id, 1))
    assert not changes.event()["Records"]


def test_a_log_that_is_late_does_not_outlive_its_memory(
    client: DynamoDBClient,
    table: str,
    service: MemoryService,
    principal: Principal,
    clock: Clock,
    changes: Changes,
    stream: Handler,
) -> None:
    used(service, principal, clock)
    client.delete_item(TableName=table, Key=key(principal.user_id, 2))

    assert stream(changes.event(), None) == {"batchItemFailures": []}
    assert len(entries(client, table)) == 3
    assert not any(
        each["pk"]["S"] == keys.log(principal.user_id, 2) for each in entries(client, table)
    )


def test_an_entry_says_when_it_expires(
    client: DynamoDBClient,
    table: str,
    service: MemoryService,
    principal: Principal,
    clock: Clock,
    changes: Changes,
    stream: Handler,
) -> None:
    used(service, principal, clock)
    stream(changes.event(), None)

    for entry in entries(client, table):
        at = datetime.fromisoformat(entry["accessed_at"]["S"])
        assert int(entry["expires_at"]["N"]) == int(at.timestamp()) + LOG_DAYS * 24 * 3600


def test_a_change_by_nobody_that_is_named_is_no_access(
    client: DynamoDBClient,
    table: str,
    service: MemoryService,
    principal: Principal,
    changes: Changes,
    stream: Handler,
) -> None:
    service.record(principal, MemoryDraft(content=SECRET, tags=["test"]))
    client.update_item(
        TableName=table,
        Key=key(principal.user_id, 1),
        UpdateExpression="SET access_count = :one, version = :two, importance = :one",
        ExpressionAttributeValues={":one": {"N": "1"}, ":two": {"N": "2"}},
    )

    assert stream(changes.event(), None) == {"batchItemFailures": []}
    assert not entries(client, table)


def test_what_is_written_to_the_logs_holds_no_content_and_no_user(
    client: DynamoDBClient,
    table: str,
    service: MemoryService,
    clock: Clock,
    changes: Changes,
    capsys: pytest.CaptureFixture[str],
) -> None:
    used(service, Principal("Her-Name", "her-agent", frozenset(SCOPES)), clock)
    event = changes.event()
    del event["Records"][0]["dynamodb"]["NewImage"]["last_accessed_at"]["S"]
    forget_logger("stream")
    stream_handler(client, table)(event, None)
    forget_logger("stream")

    line, metrics = map(json.loads, capsys.readouterr().out.splitlines())
    assert (line["message"], line["error"]) == ("record failed", "KeyError")
    assert line["event_id"] == event["Records"][0]["eventID"]
    assert (sum(metrics["LoggedAccesses"]), sum(metrics["LogFailures"])) == (3, 1)
    told = json.dumps([line, metrics])
    assert not any(private in told for private in (SECRET, "Her-Name", "her-agent", "importance"))


def test_the_example_event_is_logged(
    client: DynamoDBClient, table: str, service: MemoryService, stream: Handler
) -> None:
    user = Principal("user-1", "assistant-1", frozenset(SCOPES))
    service.record(user, MemoryDraft(content="Prefers tea", tags=["drink"]))
    event = json.loads(EVENT.read_text())
    assert all(map(is_wanted, event["Records"]))

    assert stream(event, None) == {"batchItemFailures": []}
    assert sorted(each["access_type"]["S"] for each in entries(client, table)) == ["read", "update"]

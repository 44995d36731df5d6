"""The lifecycle on DynamoDB: what it asks and what it leaves, also where a removal breaks off."""

import json
from pathlib import Path
from typing import Any

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.calls import LOST, failing, recorded
from dynamodb.moto_table import OtherClient
from dynamodb.table_changes import Changes, stream_handler
from lifecycle.app import build_handler
from log_lines import forget_logger
from memories.bootstrap import ATTEMPTS
from memories.config import Settings
from memories.errors import StoreUnavailable
from memories.lifecycle import Change, Lifecycle, Policies
from memories.models import MemoryDraft, MemoryQuery
from memories.principal import Principal
from memories.relation_models import RelationDraft
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore, keys
from memories.stores.dynamodb.items import key

DAY = 24 * 3600
EVENT = Path(__file__).parents[2] / "events/lifecycle.json"
SECRET = "the-treasure-is-under-the-oak"
REMOVING = Policies(remove_deleted_days=30)


def draft() -> MemoryDraft:
    return MemoryDraft(content=SECRET, tags=["test"])


def removed(store: DynamoDBStore, clock: Clock) -> list[Change]:
    changes: list[Change] = []
    Lifecycle(store.maintenance, REMOVING, changes.append, clock).run()
    return changes


def keys_of(client: DynamoDBClient, table: str) -> set[tuple[str, str]]:
    items = client.scan(TableName=table)["Items"]
    return {(item["pk"]["S"], item["sk"]["S"]) for item in items}


@pytest.fixture
def related_and_read(
    client: DynamoDBClient, table: str, service: MemoryService, principal: Principal, clock: Clock
) -> set[tuple[str, str]]:
    """Make a memory with relations and a log, retire it, and return the keys of what is apart."""
    service.record_batch(principal, [draft()] * 2)
    apart = keys_of(client, table)
    changes, stream = Changes(client, table), stream_handler(client, table)
    memory = service.record(principal, draft())
    service.relations.relate(principal, memory.id, "follows", 1, RelationDraft())
    service.relations.relate(principal, 2, "follows", memory.id, RelationDraft())
    for _ in range(30):
        clock.advance()
        service.inspect(principal, memory.id)
    stream(changes.event(), None)
    service.retire(principal, memory.id)
    clock.advance(30 * DAY)
    return apart | {("LOG#Zoë/#%#" + "1".zfill(20), each[1]) for each in log_of(client, table, 1)}


def log_of(client: DynamoDBClient, table: str, memory_id: int) -> set[tuple[str, str]]:
    end = str(memory_id).zfill(20)
    return {
        each
        for each in keys_of(client, table)
        if each[0].startswith("LOG#") and each[0].endswith(end)
    }


def test_a_removal_leaves_nothing_of_the_memory(
    client: DynamoDBClient,
    table: str,
    store: DynamoDBStore,
    clock: Clock,
    related_and_read: set[tuple[str, str]],
) -> None:
    assert removed(store, clock) == [("remove", "Zoë/#%", 3)]
    assert keys_of(client, table) == related_and_read


@pytest.mark.parametrize("call", ["BatchWriteItem", "DeleteItem"])
@pytest.mark.parametrize("after", [False, True])
def test_a_removal_that_breaks_off_is_repeated_whole(
    client: DynamoDBClient,
    table: str,
    store: DynamoDBStore,
    clock: Clock,
    related_and_read: set[tuple[str, str]],
    call: str,
    after: bool,
) -> None:
    with (
        failing(client, call, LOST, after=after, attempts=ATTEMPTS),
        pytest.raises(StoreUnavailable),
    ):
        removed(store, clock)
    removed(store, clock)

    assert keys_of(client, table) == related_and_read


def test_a_removal_that_breaks_off_leaves_nothing_of_where_a_memory_came_from(
    client: DynamoDBClient,
    table: str,
    store: DynamoDBStore,
    service: MemoryService,
    principal: Principal,
    clock: Clock,
) -> None:
    line = b'{"content": "Likes tea", "tags": ["test"]}'
    assert service.transfer.take_in(principal, line).recorded == 1
    service.retire(principal, 1)
    clock.advance(30 * DAY)
    with (
        failing(client, "BatchWriteItem", LOST, after=False, attempts=ATTEMPTS),
        pytest.raises(StoreUnavailable),
    ):
        removed(store, clock)
    assert len(removed(store, clock)) == 1

    assert {each[1] for each in keys_of(client, table)} == {"COUNTER", keys.agent("agent")}
    assert service.transfer.take_in(principal, line).lines[0].id == 2


@pytest.mark.parametrize("number", [1, 2])
def test_a_removal_that_breaks_off_leaves_no_half_of_a_relation(
    client: DynamoDBClient,
    table: str,
    store: DynamoDBStore,
    service: MemoryService,
    principal: Principal,
    clock: Clock,
    number: int,
) -> None:
    service.record_batch(principal, [draft()] * 2)
    apart = keys_of(client, table)
    memory = service.record(principal, draft())
    for letter in "abcdefg":
        service.relations.relate(principal, memory.id, letter, 1, RelationDraft())
        service.relations.relate(principal, 2, letter, memory.id, RelationDraft())
    service.retire(principal, memory.id)
    clock.advance(30 * DAY)
    sent = 0

    class BreaksOff(OtherClient):
        """Of one batch, half is written, and then nothing more is heard."""

        def batch_write_item(self, **batch: Any) -> Any:
            nonlocal sent
            sent += 1
            if sent != number:
                return self.client.batch_write_item(**batch)
            (requests,) = batch["RequestItems"].values()
            self.client.batch_write_item(RequestItems={table: requests[::2]})
            raise LOST

    with pytest.raises(StoreUnavailable):
        removed(DynamoDBStore(BreaksOff(client).as_client(), table), clock)
    removed(store, clock)

    assert keys_of(client, table) == apart


@pytest.mark.parametrize("call", ["BatchWriteItem", "DeleteItem"])
def test_a_removal_whose_answer_is_lost_once_is_told_once(
    client: DynamoDBClient,
    store: DynamoDBStore,
    clock: Clock,
    related_and_read: set[tuple[str, str]],
    call: str,
) -> None:
    with failing(client, call, LOST, after=True, attempts=1):
        assert removed(store, clock) == [("remove", "Zoë/#%", 3)]


def test_what_is_deleted_since_no_one_knows_when_is_kept_for_its_days_from_the_first_run_on(
    client: DynamoDBClient,
    table: str,
    store: DynamoDBStore,
    service: MemoryService,
    principal: Principal,
    clock: Clock,
) -> None:
    service.record(principal, draft())
    service.retire(principal, 1)
    client.update_item(
        TableName=table, Key=key(principal.user_id, 1), UpdateExpression="REMOVE deleted_at"
    )
    clock.advance(100 * DAY)

    assert removed(store, clock) == []
    clock.advance(30 * DAY - 1)
    assert removed(store, clock) == []
    clock.advance(1)
    assert len(removed(store, clock)) == 1


class ShortScans(OtherClient):
    """Ends the page of a scan or a query after two items, as DynamoDB does after a megabyte."""

    def scan(self, **scan: Any) -> Any:
        return self.client.scan(**scan | {"Limit": 2})

    def query(self, **query: Any) -> Any:
        return self.client.query(**query | {"Limit": 2})


def test_users_are_found_in_pages_each_once_and_a_run_goes_on_between_them(
    client: DynamoDBClient, table: str, clock: Clock, principal: Principal
) -> None:
    store = DynamoDBStore(ShortScans(client).as_client(), table)
    service = MemoryService(store, clock)
    users = [Principal(f"user {n}", "agent", principal.scopes) for n in range(4)]
    for user in users:
        for _ in range(3):
            service.retire(user, service.record(user, draft()).id)
    clock.advance(30 * DAY)

    maintenance = store.maintenance
    found, place = maintenance.users(None)
    while place:
        more, place = maintenance.users(place)
        found += more
    assert sorted(found) == sorted(user.user_id for user in users)

    with (
        failing(client, "DeleteItem", LOST, after=False, attempts=ATTEMPTS),
        pytest.raises(StoreUnavailable),
    ):
        removed(store, clock)
    removed(store, clock)
    assert not [each for each in keys_of(client, table) if each[1].startswith("MEM#")]
    assert maintenance.place() is None
    store.close()


def test_a_run_with_nothing_to_do_reads_indexes_alone(
    client: DynamoDBClient,
    store: DynamoDBStore,
    service: MemoryService,
    principal: Principal,
    clock: Clock,
) -> None:
    service.record_batch(principal, [draft()] * 5)
    service.search(principal, MemoryQuery())
    policies = Policies(remove_deleted_days=1, max_memories=5, decay_days=1)
    with recorded(client) as requests:
        Lifecycle(store.maintenance, policies, lambda change: None, clock).run()

    # One of them is the scan.
    assert sorted(requests) == ["DeleteItem", "GetItem", *["QueryIndex"] * 4]


def test_the_function_tells_of_each_change_without_content_and_without_its_user(
    store: DynamoDBStore,
    service: MemoryService,
    principal: Principal,
    clock: Clock,
    capsys: pytest.CaptureFixture[str],
) -> None:
    service.record_batch(principal, [draft()] * 5)
    service.retire(principal, 1)
    clock.advance(30 * DAY)
    service.inspect(principal, 5)
    settings = Settings(remove_deleted_days=30, max_memories=3, decay_days=10)
    forget_logger("lifecycle")
    handler = build_handler(store.maintenance, settings, "lifecycle-1", clock)
    event = json.loads(EVENT.read_text())

    dry = handler(event | {"dry_run": True}, None)
    real = handler(event, None)
    forget_logger("lifecycle")

    assert real == dry | {"dry_run": False}
    assert real["changes"] == {"remove": 1, "retire": 1, "decay": 2}
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    told = [line for line in lines if "memory_id" in line]
    assert [(line["message"], line["memory_id"], line["dry_run"]) for line in told] == [
        (step, memory_id, dry_run)
        for dry_run in (True, False)
        for step, memory_id in (("remove", 1), ("retire", 2), ("decay", 3), ("decay", 4))
    ]
    (metrics,) = (line for line in lines if "_aws" in line)
    counts = {name: sum(metrics[name]) for name in ("Removals", "Retirements", "Decays")}
    assert counts == {"Removals": 1, "Retirements": 1, "Decays": 2}
    assert metrics["service"] == "lifecycle-1"
    text = json.dumps(lines, ensure_ascii=False)
    assert not any(private in text for private in (SECRET, "test", principal.user_id))

"""A failure before and after each single call of every operation that writes.

How many calls an operation makes is found out by doing it. Whichever of them is the last that is
made: what is in the tables then is what whole operations leave, and to ask again completes it.
Of erasures ``test_erasure_steps`` shows the same.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.calls import LOST, failing_at, recorded
from memories.account_models import AgentDescription, MePatch
from memories.bootstrap import ATTEMPTS
from memories.errors import DomainError, StoreUnavailable
from memories.lifecycle import Lifecycle, Policies
from memories.models import MemoryDraft, MemoryPatch, PermissionsPatch
from memories.principal import Principal
from memories.relation_models import RelationDraft
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore, keys

# All items of both tables, by table and key, without what differs between attempts.
State = dict[tuple[str, str, str], dict[str, Any]]

# A token is new for each write; a counter may have gaps, and counts how often it was asked.
_OF_ATTEMPTS = {"write_token", "read_token", "put_at", "changed_sort"}


@dataclass(frozen=True)
class Operation:
    run: Callable[[MemoryService, DynamoDBStore, Principal], object]
    # Done in steps, between which others see what is done and what is not.
    in_steps: bool = False
    # To ask again after an answer that was lost has no further effect.
    repeatable: bool = True


def service_does(
    run: Callable[[MemoryService, Principal], object],
) -> Callable[[MemoryService, DynamoDBStore, Principal], object]:
    return lambda service, store, principal: run(service, principal)


def lifecycle(**policies: int) -> Callable[[MemoryService, DynamoDBStore, Principal], object]:
    def run(service: MemoryService, store: DynamoDBStore, principal: Principal) -> None:
        Lifecycle(
            store.maintenance, Policies(**policies), lambda change: None, service._clock
        ).run()

    return run


NEW = MemoryDraft(content="New", tags=["new"])
LINES = [
    {"content": "Of no id", "tags": ["a"]},
    {
        "content": "Of a taken id",
        "tags": ["a"],
        "id": 1,
        "relations": [{"to_id": 2, "relation_type": "follows", "strength": 0.5}],
    },
]
IMPORTED = "\n".join(map(json.dumps, LINES)).encode()

# On what is stored below.
OPERATIONS = {
    "create": Operation(service_does(lambda s, p: s.record(p, NEW)), repeatable=False),
    "batch": Operation(service_does(lambda s, p: s.record_batch(p, [NEW] * 3)), repeatable=False),
    "create with a key": Operation(service_does(lambda s, p: s.recording.one(p, NEW, "k"))),
    "batch with a key": Operation(service_does(lambda s, p: s.recording.batch(p, [NEW] * 3, "k"))),
    "change": Operation(service_does(lambda s, p: s.revise(p, 1, MemoryPatch(content="Changed")))),
    "retire": Operation(service_does(lambda s, p: s.retire(p, 1))),
    "share": Operation(service_does(lambda s, p: s.share(p, 1, PermissionsPatch(is_public=False)))),
    "relate": Operation(
        service_does(lambda s, p: s.relations.relate(p, 2, "follows", 1, RelationDraft()))
    ),
    "set a strength": Operation(
        service_does(
            lambda s, p: s.relations.relate(p, 1, "follows", 2, RelationDraft(strength=0.5))
        )
    ),
    "supersede": Operation(
        service_does(
            lambda s, p: s.relations.relate(p, 2, "supersedes", 1, RelationDraft(invalidate=True))
        )
    ),
    "unrelate": Operation(service_does(lambda s, p: s.relations.unrelate(p, 1, "follows", 2))),
    "import": Operation(service_does(lambda s, p: s.transfer.take_in(p, IMPORTED)), in_steps=True),
    "register an agent": Operation(
        service_does(lambda s, p: s.accounts.seen(Principal(p.user_id, "new", p.scopes)))
    ),
    "describe an agent": Operation(
        service_does(lambda s, p: s.accounts.describe(p, "agent", AgentDescription(name="A")))
    ),
    "change metadata": Operation(
        service_does(lambda s, p: s.accounts.revise_me(p, MePatch(metadata={"a": "c"})))
    ),
    "remove what was retired": Operation(lifecycle(remove_deleted_days=1), in_steps=True),
    "retire what is too many": Operation(lifecycle(max_memories=2), in_steps=True),
    "lower importance": Operation(lifecycle(decay_days=1), in_steps=True),
}


@pytest.fixture(autouse=True)
def stored(service: MemoryService, principal: Principal, clock: Clock) -> None:
    other = Principal(principal.user_id, "other", principal.scopes)
    draft = MemoryDraft(content="Likes tea", tags=["drinks"])
    service.accounts.seen(principal)
    service.accounts.seen(other)
    service.record_batch(principal, [draft] * 2)
    service.record_batch(other, [draft] * 2)
    service.accounts.revise_me(principal, MePatch(metadata={"a": "b"}))
    service.relations.relate(principal, 1, "follows", 2, RelationDraft())
    service.relations.relate(principal, 4, "follows", 1, RelationDraft())
    service.retire(principal, 4)
    clock.advance(3 * 24 * 3600)


def items_of(client: DynamoDBClient, table: str) -> list[tuple[str, Any]]:
    tables = (table, keys.idempotency_table_of(table))
    return [(name, item) for name in tables for item in client.scan(TableName=name)["Items"]]


def state_of(client: DynamoDBClient, table: str) -> State:
    return {
        (name, item["pk"]["S"], item["sk"]["S"]): {
            attribute: value for attribute, value in item.items() if attribute not in _OF_ATTEMPTS
        }
        for name, item in items_of(client, table)
        if item["sk"]["S"] != keys.COUNTER
    }


def put_back(client: DynamoDBClient, table: str, before: list[tuple[str, Any]]) -> None:
    now = items_of(client, table)
    for name, item in now:
        if (name, item) not in before:
            client.delete_item(TableName=name, Key={"pk": item["pk"], "sk": item["sk"]})
    for name, item in before:
        if (name, item) not in now:
            client.put_item(TableName=name, Item=item)


def ids_left_out(state: State) -> list[str]:
    """Return the items without ids: where one was lost with an answer, the next is another."""
    return sorted(
        repr({name: value for name, value in item.items() if name not in _IDS})
        for item in state.values()
    )


_READS = {"BatchGetItem", "GetItem", "Query", "QueryIndex", "Scan"}
_IDS = {"id", "sk", "first_id", "created_sort", "updated_sort", "accessed_sort"}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_failure_at_any_call_leaves_what_whole_operations_leave(
    client: DynamoDBClient,
    table: str,
    clock: Clock,
    principal: Principal,
    name: str,
) -> None:
    operation = OPERATIONS[name]

    def do() -> bool:
        # A process of its own each time, that remembers nothing.
        store = DynamoDBStore(client, table, pause=lambda tries: None)
        try:
            operation.run(MemoryService(store, clock), store, principal)
        except StoreUnavailable:
            return False
        finally:
            store.close()
        return True

    before_items, before = items_of(client, table), state_of(client, table)
    with recorded(client) as requests:
        assert do()
    whole = state_of(client, table)
    assert len(requests) >= 1
    assert whole != before

    failures = [
        (number, request, after)
        for number, request in enumerate(requests, 1)
        # Whether before or after, a read that fails is the same.
        for after in ((False,) if request in _READS else (False, True))
    ]
    for number, request, after in failures:
        put_back(client, table, before_items)
        with failing_at(client, number, LOST, after=after, attempts=ATTEMPTS):
            acknowledged = do()
        met = state_of(client, table)
        where = f"{'after' if after else 'before'} {request}, {number} of {len(requests)}"
        if acknowledged:
            assert ids_left_out(met) == ids_left_out(whole), where
        elif operation.in_steps:
            for at in met.keys() | before.keys():
                possible = [state.get(at) for state in (before, whole)]
                assert met.get(at) in possible or at not in before.keys() | whole.keys(), where
        else:
            assert ids_left_out(met) in [ids_left_out(before), ids_left_out(whole)], where
        if operation.repeatable and not acknowledged:
            try:
                assert do(), where
            except DomainError:
                # It was done, and there is nothing to do it to any more.
                assert after, where
            assert ids_left_out(state_of(client, table)) == ids_left_out(whole), where

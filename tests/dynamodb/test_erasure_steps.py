"""Erasure on DynamoDB: a failure at any of its requests is gone on from, and counts stay right."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from dynamodb.calls import LOST, failing_at, recorded
from dynamodb.moto_table import OtherClient, ShortWalks
from memories.account_models import AgentDescription, MePatch, Receipt
from memories.bootstrap import ATTEMPTS
from memories.errors import AgentNotFound, StoreUnavailable
from memories.models import MemoryDraft
from memories.principal import SCOPES, Principal
from memories.relation_models import RelationDraft
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore, keys

Erase = Callable[[MemoryService, Principal], Receipt]

USER: Erase = lambda service, principal: service.erasure.erase_user(principal)  # noqa: E731
AGENT: Erase = lambda service, principal: service.erasure.erase_agent(principal, "agent")  # noqa: E731

# What is erased of what is stored below, and what is left of the user's.
ERASED = {
    USER: {"memories": 4, "agents": 2, "relations": 3, "log_entries": 4},
    AGENT: {"memories": 2, "agents": 1, "relations": 2, "log_entries": 3},
}
LEFT = {
    USER: set(),
    AGENT: {"AGENT#", "COUNTER", "PROFILE", "MEM#", "REL#", "LER#", "LOG#", "REQUEST#"},
}
WHICH = pytest.mark.parametrize("erase", [USER, AGENT], ids=["user", "agent"])


@pytest.fixture(autouse=True)
def stored(
    client: DynamoDBClient, table: str, service: MemoryService, principal: Principal
) -> None:
    other = Principal(principal.user_id, "other", principal.scopes)
    drafts = [MemoryDraft(content="Likes tea", tags=["drinks"])]
    service.accounts.seen(principal)
    service.record_batch(principal, drafts * 2)
    service.accounts.describe(other, "other", AgentDescription(name="Other"))
    service.record_batch(other, drafts * 2)
    service.accounts.revise_me(principal, MePatch(metadata={"a": "b"}))
    for one, two in ((1, 2), (3, 1), (3, 4)):
        service.relations.relate(principal, one, "follows", two, RelationDraft())
    for number, memory_id in enumerate((1, 1, 2, 3)):
        entry = {"pk": keys.log(principal.user_id, memory_id), "sk": f"2026-04-06#{number}"}
        put(client, table, entry)
    for agent in ("agent", "other"):
        request = {"pk": keys.partition(principal.user_id), "sk": keys.request(agent, "0" * 64)}
        put(client, keys.idempotency_table_of(table), request)
    # One that came from elsewhere, and so has its origin kept.
    origin = {"pk": keys.partition(principal.user_id), "sk": keys.origin("0" * 64)}
    put(client, table, origin)
    client.update_item(
        TableName=table,
        Key={"pk": {"S": origin["pk"]}, "sk": {"S": keys.memory(2)}},
        UpdateExpression="SET origin = :origin",
        ExpressionAttributeValues={":origin": {"S": "0" * 64}},
    )


def put(client: DynamoDBClient, table: str, item: dict[str, str]) -> None:
    client.put_item(TableName=table, Item={name: {"S": value} for name, value in item.items()})


def items_of(client: DynamoDBClient, table: str) -> list[tuple[str, Any]]:
    """Return all items, each with its table."""
    tables = (table, keys.idempotency_table_of(table))
    return [(name, item) for name in tables for item in client.scan(TableName=name)["Items"]]


def left(client: DynamoDBClient, table: str) -> set[str]:
    """Return what the keys of all items begin with."""
    found = set()
    for _, item in items_of(client, table):
        key = item["sk"]["S"] if item["pk"]["S"].startswith("USER#") else item["pk"]["S"]
        found.add(key.partition("#")[0] + "#" * ("#" in key))
    return found


def completed(service: MemoryService, principal: Principal, erase: Erase) -> Receipt:
    while not (receipt := erase(service, principal)).complete:
        pass
    return receipt


@WHICH
def test_nothing_of_it_is_left(
    client: DynamoDBClient,
    table: str,
    service: MemoryService,
    principal: Principal,
    erase: Erase,
) -> None:
    receipt = completed(service, principal, erase)
    assert receipt.erased.model_dump() == ERASED[erase]
    assert left(client, table) == LEFT[erase]


@WHICH
def test_so_it_is_where_a_page_ends_after_a_few_items(
    client: DynamoDBClient, table: str, principal: Principal, erase: Erase
) -> None:
    store = DynamoDBStore(ShortWalks(client).as_client(), table)
    receipt = completed(MemoryService(store), principal, erase)
    assert receipt.erased.model_dump() == ERASED[erase]
    assert left(client, table) == LEFT[erase]


@pytest.mark.parametrize(
    ("after", "attempts"),
    [
        pytest.param(False, ATTEMPTS, id="it is never made"),
        pytest.param(True, 1, id="its answer is lost once"),
        pytest.param(True, ATTEMPTS, id="its answer is lost for good"),
    ],
)
@WHICH
def test_a_failure_at_any_request_is_gone_on_from(
    client: DynamoDBClient,
    table: str,
    store: DynamoDBStore,
    service: MemoryService,
    principal: Principal,
    erase: Erase,
    after: bool,
    attempts: int,
) -> None:
    before = items_of(client, table)
    with recorded(client) as requests:
        completed(service, principal, erase)

    for number in range(1, len(requests) + 1):
        for name, item in items_of(client, table):
            client.delete_item(TableName=name, Key={"pk": item["pk"], "sk": item["sk"]})
        for name, item in before:
            client.put_item(TableName=name, Item=item)

        with failing_at(client, number, LOST, after=after, attempts=attempts):
            outcome = attempt(service, principal, erase)

        told = outcome.erased.model_dump() if outcome else None
        assert left(client, table) == LEFT[erase], number
        if after and attempts == ATTEMPTS and number == len(requests):
            # All was done, and nobody knows: to ask again finds nothing.
            assert told in (None, dict.fromkeys(ERASED[erase], 0))
        else:
            assert told == ERASED[erase], number


def attempt(service: MemoryService, principal: Principal, erase: Erase) -> Receipt | None:
    """Return the receipt of an erasure that is repeated until it is complete, whatever fails."""
    while True:
        try:
            return completed(service, principal, erase)
        except StoreUnavailable:
            pass
        except AgentNotFound:
            return None


@WHICH
def test_two_who_erase_at_once_count_nothing_twice(
    client: DynamoDBClient,
    table: str,
    service: MemoryService,
    principal: Principal,
    erase: Erase,
) -> None:
    receipts: list[Receipt] = []

    class Rival(OtherClient):
        """Lets another erase all between two requests of this one."""

        def transact_write_items(self, **call: Any) -> Any:
            if not receipts:
                receipts.append(completed(service, principal, erase))
            return self.client.transact_write_items(**call)

    late = MemoryService(DynamoDBStore(Rival(client).as_client(), table))
    outcome = attempt(late, principal, erase)

    assert receipts[0].erased.model_dump() == ERASED[erase]
    assert outcome is None or sum(outcome.erased.model_dump().values()) == 0
    assert left(client, table) == LEFT[erase]


def test_of_many_relations_none_is_left_by_half(
    client: DynamoDBClient, table: str, service: MemoryService, principal: Principal
) -> None:
    other = Principal(principal.user_id, "other", principal.scopes)
    # With the two others of its memory, an odd number.
    put(client, table, {"pk": keys.log(principal.user_id, 1), "sk": "2026-04-06#more"})
    for first, second in product("abcdefgh", repeat=2):
        service.relations.relate(other, 3, first + second, 2, RelationDraft())

    receipt = completed(service, principal, AGENT)

    assert receipt.erased.relations == ERASED[AGENT]["relations"] + 64
    relations = [item for _, item in items_of(client, table) if "relation_type" in item]
    assert [(item["from_id"]["N"], item["to_id"]["N"]) for item in relations] == [("3", "4")] * 2


def test_agents_of_another_user_are_out_of_reach(
    client: DynamoDBClient, table: str, service: MemoryService, principal: Principal
) -> None:
    stranger = Principal(principal.user_id + "#", "agent", frozenset(SCOPES))
    with pytest.raises(AgentNotFound):
        service.erasure.erase_agent(stranger, "agent")
    assert service.erasure.erase_user(stranger).erased.memories == 0
    assert service.accounts.me(principal).memories.active == 4

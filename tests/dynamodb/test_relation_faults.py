"""Relations while calls fail, while others write, and when an answer is lost.

Whatever fails, a relation is there from both of its ends or from none, and what is to become
invalid with it does so with it or not at all.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ClientError
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.calls import LOST, failing, recorded
from dynamodb.moto_table import OtherClient
from dynamodb.test_faults import FAULTS, refusal
from memories.bootstrap import ATTEMPTS
from memories.errors import MemoryNotFound, NotPermitted, RelationNotFound, StoreUnavailable
from memories.models import MemoryDraft, MemoryPatch, MemoryQuery, PermissionsPatch
from memories.principal import Principal
from memories.relation_models import RelatedQuery, Relation, RelationDraft, RelationQuery
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.dynamodb.failures import CONFLICT_TRIES
from memories.tag_models import TagQuery

OLD, NEW, OTHER = 1, 2, 3


def relate(service: MemoryService, principal: Principal, **sent: Any) -> Relation:
    relation, _ = service.relations.relate(principal, NEW, "supersedes", OLD, RelationDraft(**sent))
    return relation


@dataclass
class Operation:
    run: Callable[[MemoryService, Principal], object]
    requests: list[str]


# On what is stored below: OTHER supersedes OLD.
WRITES = {
    "relate": Operation(relate, ["TransactWriteItems"]),
    "relate and invalidate": Operation(
        lambda service, principal: relate(service, principal, invalidate=True),
        ["TransactWriteItems"],
    ),
    "set the strength": Operation(
        lambda service, principal: service.relations.relate(
            principal, OTHER, "supersedes", OLD, RelationDraft(strength=0.5)
        ),
        ["TransactWriteItems", "TransactWriteItems"],
    ),
    "remove": Operation(
        lambda service, principal: service.relations.unrelate(principal, OTHER, "supersedes", OLD),
        ["GetItem", "TransactWriteItems"],
    ),
}
READS = {
    "list": Operation(
        lambda service, principal: service.relations.listed(principal, OLD, RelationQuery()),
        ["Query", "Query", "BatchGetItem"],
    ),
    "look around": Operation(
        lambda service, principal: service.relations.around(principal, OLD, RelatedQuery()),
        ["GetItem", "Query", "Query", "BatchGetItem", "BatchGetItem", "BatchExecuteStatement"],
    ),
    "list tags": Operation(
        lambda service, principal: service.tags.listed(principal, TagQuery()), ["QueryIndex"]
    ),
}
CALLS = [
    pytest.param(operation, call, id=f"{name}, {call}")
    for name, operation in (WRITES | READS).items()
    for call in dict.fromkeys(operation.requests)
]


@pytest.fixture(autouse=True)
def stored(service: MemoryService, principal: Principal, clock: Clock) -> None:
    drafts = [MemoryDraft(content=content, tags=["home"]) for content in ("Rome", "Oslo", "Bonn")]
    service.record_batch(principal, drafts)
    service.relations.relate(principal, OTHER, "supersedes", OLD, RelationDraft())
    clock.advance()


def state(client: DynamoDBClient, table: str) -> dict[str, Any]:
    """Return all that is kept of memories and relations, and see that each has its mirror."""
    kept: dict[str, Any] = {}
    mirrors: dict[str, Any] = {}
    for item in client.scan(TableName=table)["Items"]:
        sort_key = item["sk"]["S"]
        facts = {
            name: value
            for name, value in item.items()
            # The edge alone says for the access log who asked for it, and when.
            if name not in {"pk", "sk", "write_token", "read_token", "made_at", "made_by"}
        }
        if sort_key.startswith("LER#"):
            _, to_id, kind, from_id = sort_key.split("#")
            mirrors[f"REL#{from_id}#{kind}#{to_id}"] = facts
        elif sort_key.startswith(("REL#", "MEM#")):
            kept[sort_key] = facts
    assert {key: value for key, value in kept.items() if key.startswith("REL#")} == mirrors
    return kept


@pytest.mark.parametrize("operation", (WRITES | READS).values(), ids=WRITES | READS)
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
    table: str,
    service: MemoryService,
    principal: Principal,
    operation: Operation,
    call: str,
    error: Exception,
    after: bool,
) -> None:
    with failing(client, call, error, after=after, attempts=1):
        operation.run(service, principal)

    changed = state(client, table)
    edges = {key for key in changed if key.startswith("REL#")}
    if operation in READS.values():
        assert len(edges) == 1
        return
    wanted = {"relate": 2, "relate and invalidate": 2, "set the strength": 1, "remove": 0}
    (name,) = (name for name, each in WRITES.items() if each is operation)
    assert len(edges) == wanted[name]
    old = service.inspect(principal, OLD)
    invalid = name == "relate and invalidate"
    assert (old.status, old.version) == (("invalid", 2) if invalid else ("active", 1))


@pytest.mark.parametrize(("error", "after"), FAULTS)
@pytest.mark.parametrize("operation", WRITES.values(), ids=WRITES)
def test_a_write_that_keeps_failing_is_an_unavailable_store_with_nothing_half_written(
    client: DynamoDBClient,
    table: str,
    service: MemoryService,
    principal: Principal,
    operation: Operation,
    error: Exception,
    after: bool,
) -> None:
    before = state(client, table)
    with (
        failing(client, "TransactWriteItems", error, after=after, attempts=ATTEMPTS),
        pytest.raises(StoreUnavailable),
    ):
        operation.run(service, principal)
    met = state(client, table)

    if met != before:
        assert after
        operation.run(service, principal) if operation is not WRITES["remove"] else None
        assert state(client, table) == met


class Conflicts(OtherClient):
    """Refuses the first writes of memories because a transaction is at work on their items.

    Or the first transactions, because a write is.
    """

    def __init__(self, client: DynamoDBClient, times: int) -> None:
        super().__init__(client)
        self.left = times

    def transact_write_items(self, **request: Any) -> Any:
        if self._conflicts():
            codes = ["TransactionConflict", *["None"] * (len(request["TransactItems"]) - 1)]
            raise ClientError(
                {
                    "Error": {"Code": "TransactionCanceledException", "Message": ""},
                    "ResponseMetadata": {},  # type: ignore[typeddict-item]
                    "CancellationReasons": [{"Code": code} for code in codes],
                },
                "TransactWriteItems",
            )
        return self.client.transact_write_items(**request)

    def update_item(self, **request: Any) -> Any:
        if "MEM#" in request["Key"]["sk"]["S"] and self._conflicts():
            raise refusal("TransactionConflictException", 400)
        return self.client.update_item(**request)

    def _conflicts(self) -> bool:
        self.left -= 1
        return self.left >= 0


TOUCHED: dict[str, Callable[[MemoryService, Principal], Any]] = {
    **{name: operation.run for name, operation in WRITES.items()},
    "read": lambda service, principal: service.inspect(principal, OLD),
    "revise": lambda service, principal: service.revise(
        principal, OLD, MemoryPatch(content="Paris")
    ),
    "share": lambda service, principal: service.share(
        principal, OLD, PermissionsPatch(read_only=True)
    ),
    "retire": lambda service, principal: service.retire(principal, OLD),
}


@pytest.mark.parametrize("use", TOUCHED.values(), ids=TOUCHED)
@pytest.mark.parametrize("times", [1, CONFLICT_TRIES - 1, CONFLICT_TRIES])
def test_a_relation_and_another_use_of_its_ends_wait_for_one_another_and_not_for_ever(
    client: DynamoDBClient,
    table: str,
    clock: Clock,
    principal: Principal,
    use: Callable[[MemoryService, Principal], Any],
    times: int,
) -> None:
    waits: list[int] = []
    store = DynamoDBStore(Conflicts(client, times).as_client(), table, pause=waits.append)
    service = MemoryService(store, clock)
    if times < CONFLICT_TRIES:
        use(service, principal)
    else:
        before = state(client, table)
        with pytest.raises(StoreUnavailable):
            use(service, principal)
        assert state(client, table) == before
    assert waits == list(range(1, times + 1))


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("invalidate", [False, True])
def test_an_end_that_is_read_between_two_attempts_changes_nothing(
    client: DynamoDBClient,
    table: str,
    service: MemoryService,
    principal: Principal,
    after: bool,
    invalidate: bool,
) -> None:
    def read() -> None:
        service.search(principal, MemoryQuery())
        service.inspect(principal, OLD)

    with failing(client, "TransactWriteItems", LOST, after=after, attempts=1, meanwhile=read):
        relate(service, principal, invalidate=invalidate)

    assert service.inspect(principal, OLD).version == 1 + invalidate
    assert len([key for key in state(client, table) if key.startswith("REL#")]) == 2


@pytest.mark.parametrize(
    ("withdraw", "told"),
    [
        (lambda service, principal: service.retire(principal, NEW), MemoryNotFound),
        (lambda service, principal: service.retire(principal, OLD), MemoryNotFound),
        (
            lambda service, principal: service.share(
                principal, OLD, PermissionsPatch(is_public=False)
            ),
            MemoryNotFound,
        ),
        (
            lambda service, principal: service.share(
                principal, NEW, PermissionsPatch(read_only=True)
            ),
            NotPermitted,
        ),
        (
            lambda service, principal: service.share(
                principal, OLD, PermissionsPatch(read_only=True)
            ),
            NotPermitted,
        ),
    ],
)
def test_an_end_that_is_withdrawn_before_the_second_attempt_is_not_related(
    client: DynamoDBClient,
    table: str,
    service: MemoryService,
    principal: Principal,
    withdraw: Callable[[MemoryService, Principal], Any],
    told: type[Exception],
) -> None:
    another = Principal(principal.user_id, "another", principal.scopes)
    with (
        failing(
            client,
            "TransactWriteItems",
            LOST,
            after=False,
            attempts=1,
            meanwhile=lambda: withdraw(service, principal),
        ),
        pytest.raises(told),
    ):
        relate(service, another, invalidate=True)
    assert len([key for key in state(client, table) if key.startswith("REL#")]) == 1


class Meddling(OtherClient):
    """Does something before each of the first transactions."""

    def __init__(self, client: DynamoDBClient, *meddle: Callable[[], Any]) -> None:
        super().__init__(client)
        self.meddle = list(meddle)

    def transact_write_items(self, **request: Any) -> Any:
        if self.meddle:
            self.meddle.pop(0)()
        return self.client.transact_write_items(**request)


def test_what_is_met_in_another_state_at_each_try_is_written_as_it_was_asked_for(
    client: DynamoDBClient,
    table: str,
    clock: Clock,
    service: MemoryService,
    principal: Principal,
) -> None:
    def set_status(status: str) -> None:
        service.revise(principal, OLD, MemoryPatch.model_validate({"status": status}))

    def remove() -> None:
        with suppress(RelationNotFound):
            service.relations.unrelate(principal, NEW, "supersedes", OLD)

    meddling = Meddling(
        client,
        lambda: set_status("invalid"),
        lambda: set_status("active"),
        lambda: relate(service, principal, strength=0.1),
        remove,
    )
    racing = MemoryService(DynamoDBStore(meddling.as_client(), table), clock)

    relation = relate(racing, principal, strength=0.7, invalidate=True)

    assert relation.strength == 0.7
    assert meddling.meddle == []
    old = service.inspect(principal, OLD)
    assert (old.status, old.version) == ("invalid", 4)
    page = service.relations.listed(principal, NEW, RelationQuery())
    assert page.items == [relation]
    state(client, table)


def test_a_relation_that_another_removed_first_was_not_there(
    client: DynamoDBClient,
    table: str,
    clock: Clock,
    service: MemoryService,
    principal: Principal,
) -> None:
    edge = (OTHER, "supersedes", OLD)
    meddling = Meddling(client, lambda: service.relations.unrelate(principal, *edge))
    racing = MemoryService(DynamoDBStore(meddling.as_client(), table), clock)

    with pytest.raises(RelationNotFound):
        racing.relations.unrelate(principal, *edge)


def test_a_hub_shows_its_first_hundred_in_full_and_all_of_them_in_pages(
    store: DynamoDBStore, service: MemoryService, principal: Principal
) -> None:
    for _ in range(5):
        service.record_batch(principal, [MemoryDraft(content="x", tags=["x"])] * 25)
    now = "2026-04-06T14:12:00.000000Z"
    relation = store.relations.out_of(principal, OTHER, OTHER)[0]
    for other in range(4, 129):
        store.relations.put(principal, relation._replace(from_id=NEW, to_id=other, created_at=now))
    full = service.inspect(principal, NEW, full=True)
    assert full.model_dump()["related_memories"] == list(range(4, 104))
    page = service.relations.listed(principal, NEW, RelationQuery(offset=100, limit=100))
    assert [each.to_id for each in page.items] == list(range(104, 129))
    assert page.total == 125

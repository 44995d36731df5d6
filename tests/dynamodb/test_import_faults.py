"""An import that fails in the middle, and is sent again; and the same import twice at once."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.calls import LOST, failing
from dynamodb.moto_table import AtomicCalls, OtherClient
from memories.errors import StoreUnavailable
from memories.models import MemoryDraft
from memories.principal import Principal
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore
from memories.transfer_models import ExportQuery, ImportReport

AT = "2026-01-02T03:04:05.000006Z"


def line(memory_id: int | None, content: str) -> dict[str, Any]:
    made = {"id": memory_id, "created_at": AT, "agent_id": "maker"} if memory_id else {}
    return {"content": content, "tags": ["a"], **made}


RELATION = {"to_id": 2, "relation_type": "follows", "strength": 0.5}
# Of the first the id is taken, the third has none, and there is a relation.
LINES = [
    line(1, "From elsewhere"),
    line(2, "Free"),
    line(None, "Of no id"),
    line(4, "Related") | {"relations": [RELATION]},
]


@pytest.fixture(autouse=True)
def here_first(service: MemoryService, principal: Principal) -> None:
    service.record(principal, MemoryDraft(content="Here first", tags=["a"]))


def take_in(
    service: MemoryService, principal: Principal, lines: Sequence[object] = LINES
) -> ImportReport:
    return service.transfer.take_in(principal, "\n".join(map(json.dumps, lines)).encode())


def contents(service: MemoryService, principal: Principal) -> list[str]:
    lines = service.transfer.export(principal, ExportQuery()).lines
    return sorted(json.loads(line)["content"] for line in lines)


ALL = ["Free", "From elsewhere", "Here first", "Of no id", "Related"]


class Breaking(OtherClient):
    """Loses the connection at the n-th write, before it arrives or after it was done."""

    def __init__(self, client: DynamoDBClient, number: int, *, after: bool) -> None:
        super().__init__(client)
        self._left = number
        self._after = after

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.client, name)
        if name not in {"put_item", "update_item", "transact_write_items"}:
            return call

        def breaking(**options: Any) -> Any:
            self._left -= 1
            if self._left < 0 and not self._after:
                raise LOST
            answer = call(**options)
            if self._left < 0:
                raise LOST
            return answer

        return breaking


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("number", range(9))
def test_an_import_that_breaks_off_anywhere_is_completed_by_its_repeat(
    client: DynamoDBClient,
    table: str,
    clock: Clock,
    service: MemoryService,
    principal: Principal,
    number: int,
    after: bool,
) -> None:
    breaking = DynamoDBStore(Breaking(client, number, after=after).as_client(), table)
    with pytest.raises(StoreUnavailable):
        take_in(MemoryService(breaking, clock), principal)

    clock.advance()
    completed = take_in(service, principal)
    again = take_in(service, principal)

    assert completed.refused == 0
    assert (again.recorded, again.kept) == (0, 4)
    assert [each.id for each in again.lines] == [each.id for each in completed.lines]
    assert contents(service, principal) == ALL
    lines = service.transfer.export(principal, ExportQuery()).lines
    assert [len(json.loads(each)["relations"]) for each in lines].count(1) == 1


@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "TransactWriteItems"])
def test_a_lost_answer_is_found_out_by_the_next_attempt(
    client: DynamoDBClient, service: MemoryService, principal: Principal, operation: str
) -> None:
    with failing(client, operation, LOST, after=True, attempts=1):
        report = take_in(service, principal)

    assert (report.recorded, report.refused) == (4, 0)
    assert contents(service, principal) == ALL


def test_two_imports_of_one_file_at_once_store_it_once(
    client: DynamoDBClient, table: str, clock: Clock, principal: Principal
) -> None:
    store = DynamoDBStore(AtomicCalls(client).as_client(), table, pause=lambda tries: None)
    service = MemoryService(store, clock)
    with ThreadPoolExecutor(4) as threads:
        reports = list(threads.map(lambda _: take_in(service, principal), range(4)))

    assert sum(report.recorded for report in reports) == 4
    assert len({tuple(line.id for line in report.lines) for report in reports}) == 1
    assert contents(service, principal) == ALL

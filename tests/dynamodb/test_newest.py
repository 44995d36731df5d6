"""What was just recorded is found at once, whatever else was, while the indexes lag."""

from collections.abc import Iterator
from typing import Any

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.moto_table import LaggingIndexes, new_table
from memories.models import MemoryDraft, MemoryQuery, PrimingQuery
from memories.principal import SCOPES, Principal
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore

ANN, OTHER = (Principal("ann", agent, frozenset(SCOPES)) for agent in ("agent", "other"))


@pytest.fixture
def service(client: DynamoDBClient, table: str, clock: Clock) -> Iterator[MemoryService]:
    with new_table(client) as empty:
        lagging = LaggingIndexes(client, table, empty).as_client()
        store = DynamoDBStore(lagging, table, pause=lambda tries: None)
        yield MemoryService(store, clock)
        store.close()


def draft(**fields: Any) -> MemoryDraft:
    return MemoryDraft(content="x", tags=["t"], **fields)


@pytest.mark.parametrize(
    "later",
    [{"memory_type": "fact"}, {"is_public": False}],
    ids=["of another type", "of another agent's own"],
)
def test_matches_behind_many_newer_memories_that_are_none(
    service: MemoryService, later: dict[str, Any]
) -> None:
    service.record_batch(ANN, [draft(memory_type="preference")] * 5)
    for _ in range(2):
        service.record_batch(OTHER, [draft(**{"memory_type": "preference"} | later)] * 25)

    query = MemoryQuery(memory_type="preference")
    assert service.search(ANN, query).total == 5
    assert service.prime(ANN, PrimingQuery()).preferences.total == 5

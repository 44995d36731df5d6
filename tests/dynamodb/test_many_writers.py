"""Many writers at once, for one user."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.moto_table import AtomicCalls
from memories.errors import WriteConflict
from memories.models import MemoryDraft, MemoryPatch
from memories.principal import Principal
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore

pytestmark = pytest.mark.deep


@pytest.fixture
def store(client: DynamoDBClient, table: str) -> Iterator[DynamoDBStore]:
    store = DynamoDBStore(AtomicCalls(client).as_client(), table)
    yield store
    store.close()


@pytest.fixture
def service(store: DynamoDBStore, clock: Clock) -> MemoryService:
    return MemoryService(store, clock, pause=lambda tries: None)


def test_200_creates_give_200_ids(service: MemoryService, principal: Principal) -> None:
    draft = MemoryDraft(content="Likes tea", tags=["drinks"])
    with ThreadPoolExecutor(20) as writers:
        memories = list(writers.map(lambda _: service.record(principal, draft), range(200)))
    assert {memory.id for memory in memories} == set(range(1, 201))


def test_no_update_of_many_writers_is_lost_while_others_read(
    store: DynamoDBStore, principal: Principal
) -> None:
    service = MemoryService(store)
    memory = service.record(principal, MemoryDraft(content="Likes tea", tags=["drinks"]))

    def revise(number: int) -> int:
        patch = MemoryPatch(content=f"Likes {number}")
        while True:
            with suppress(WriteConflict):
                return service.revise(principal, memory.id, patch).version

    with ThreadPoolExecutor(4) as readers, ThreadPoolExecutor(32) as writers:
        readings = [readers.submit(service.inspect, principal, memory.id) for _ in range(80)]
        versions = list(writers.map(revise, range(640)))
        assert all(reading.result().id == memory.id for reading in readings)
    assert sorted(versions) == list(range(2, 642))
    assert service.inspect(principal, memory.id).version == 641


def test_every_one_of_many_readings_is_counted(
    service: MemoryService, store: DynamoDBStore, principal: Principal
) -> None:
    memory = service.record(principal, MemoryDraft(content="Likes tea", tags=["drinks"]))
    with ThreadPoolExecutor(10) as readers:
        list(readers.map(lambda _: service.inspect(principal, memory.id), range(50)))
    record = store.get(principal, memory.id)
    assert record is not None
    assert record.access_count == 50

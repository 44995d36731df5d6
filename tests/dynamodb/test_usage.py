"""What counting requests costs, and what of them the processes know together."""

from dataclasses import replace

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.calls import LOST, failing, recorded
from memories.bootstrap import ATTEMPTS
from memories.errors import StoreUnavailable, TooManyRequests
from memories.principal import Principal
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.dynamodb.keys import idempotency_table_of
from memories.stores.port_usage import Limits

LIMITS = Limits(user=4, agent=2)


@pytest.fixture
def services(store: DynamoDBStore, clock: Clock) -> list[MemoryService]:
    """Two services on one table, as in two processes."""
    return [MemoryService(store, clock, limits=LIMITS) for _ in range(2)]


def test_a_write_is_one_request_more_and_a_read_none(
    client: DynamoDBClient, services: list[MemoryService], principal: Principal
) -> None:
    with recorded(client) as requests:
        services[0].fair_use.count(principal, writes=True)
        assert requests == ["UpdateItem"]
        services[0].fair_use.count(principal, writes=False)
        assert requests == ["UpdateItem"]


def test_without_limits_a_write_is_no_request_more(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    with recorded(client) as requests:
        service.fair_use.count(principal, writes=True)
    assert not requests


def test_writes_are_counted_for_all_processes_and_reads_for_each(
    services: list[MemoryService], principal: Principal
) -> None:
    for service in services:
        service.fair_use.count(principal, writes=True)
        for _ in range(LIMITS.agent):
            service.fair_use.count(principal, writes=False)
    for service in services:
        for writes in (True, False):
            with pytest.raises(TooManyRequests):
                service.fair_use.count(principal, writes=writes)


def test_the_counts_of_a_minute_are_forgotten(
    client: DynamoDBClient,
    table: str,
    services: list[MemoryService],
    principal: Principal,
    clock: Clock,
) -> None:
    services[0].fair_use.count(replace(principal, agent_id="by name"), writes=True)
    (item,) = client.scan(TableName=idempotency_table_of(table))["Items"]
    assert int(item["expires_at"]["N"]) > clock.moment.timestamp()
    assert "by name" not in str(item)


@pytest.mark.parametrize("after", [False, True])
def test_a_count_that_fails_is_made_again_and_then_is_an_unavailable_store(
    client: DynamoDBClient, services: list[MemoryService], principal: Principal, after: bool
) -> None:
    with failing(client, "UpdateItem", LOST, after=after, attempts=1):
        services[0].fair_use.count(principal, writes=True)
    with (
        failing(client, "UpdateItem", LOST, after=False, attempts=ATTEMPTS),
        pytest.raises(StoreUnavailable),
    ):
        services[0].fair_use.count(principal, writes=True)

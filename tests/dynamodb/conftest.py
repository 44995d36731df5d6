"""Fixtures: a client on moto, a table of the template, and the service over it."""

from collections.abc import Iterator

import pytest
from moto import mock_aws
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.moto_table import new_table
from memories.bootstrap import build_client
from memories.config import Settings
from memories.principal import SCOPES, Principal
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore


@pytest.fixture(scope="session")
def client() -> Iterator[DynamoDBClient]:
    with pytest.MonkeyPatch.context() as environment, mock_aws():
        environment.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        client = build_client(Settings())
        yield client
        client.close()


@pytest.fixture
def table(client: DynamoDBClient) -> Iterator[str]:
    with new_table(client) as name:
        yield name


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(client: DynamoDBClient, table: str) -> Iterator[DynamoDBStore]:
    store = DynamoDBStore(client, table, pause=lambda tries: None)
    yield store
    store.close()


@pytest.fixture
def service(store: DynamoDBStore, clock: Clock) -> MemoryService:
    return MemoryService(store, clock)


@pytest.fixture
def principal() -> Principal:
    return Principal("Zoë/#%", "agent", frozenset(SCOPES))

"""Fixtures: the service over a table on moto."""

from collections.abc import Iterator

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from memories.principal import SCOPES, Principal
from memories.stores.dynamodb import DynamoDBStore


@pytest.fixture
def client(dynamodb_client: DynamoDBClient) -> DynamoDBClient:
    return dynamodb_client


@pytest.fixture
def store(client: DynamoDBClient, table: str) -> Iterator[DynamoDBStore]:
    store = DynamoDBStore(client, table, pause=lambda tries: None)
    yield store
    store.close()


@pytest.fixture
def principal() -> Principal:
    return Principal("Zoë/#%", "agent", frozenset(SCOPES))

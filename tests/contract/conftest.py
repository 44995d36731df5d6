"""The contract is the same on both stores."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dynamodb.moto_table import QuickMoto
from http_api.app import Handler
from http_client import EventClient, HttpClient, SocketClient, Switchboard
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.port import Store
from memories.stores.sqlite import SqliteStore


@pytest.fixture(params=["sqlite, event", "sqlite, socket", "dynamodb, event"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(way: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store: Store
    if way.startswith("sqlite"):
        store = SqliteStore(tmp_path / "memories.db")
    else:
        client = QuickMoto(request.getfixturevalue("dynamodb_client")).as_client()
        store = DynamoDBStore(client, request.getfixturevalue("table"))
    yield store
    store.close()


@pytest.fixture
def http(way: str, handler: Handler, server: tuple[Switchboard, SocketClient]) -> HttpClient:
    if way.endswith("event"):
        return EventClient(handler)
    switchboard, client = server
    switchboard.handler = handler
    return client

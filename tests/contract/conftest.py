"""The contract is the same on both stores."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents import ClientOf
from http_api.app import Handler
from http_client import EventClient, HttpClient, claims_of
from memories.principal import SCOPES
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.port import Store
from memories.stores.sqlite import SqliteStore

# The core of the contract, for which DynamoDB is tried through MCP too.
_CORE = {"test_changes", "test_memory", "test_retrieval"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what would show nothing new: moto is slow, so on it each door has one way in.

    What comes after the core, or takes hundreds of memories, goes through MCP on SQLite: no door
    knows which store there is.
    """
    items[:] = [item for item in items if not _is_superfluous(item)]
    for item in items:
        if _is_deep(item):
            item.add_marker("deep")


def _is_superfluous(item: pytest.Item) -> bool:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    both = item.path.stem in _CORE and item.get_closest_marker("hundreds") is None
    ways = {"event", "mcp"} if both else {"event"}
    return parameters.get("store") == "dynamodb" and parameters.get("door_of", "event") not in ways


def _is_deep(item: pytest.Item) -> bool:
    # Hundreds of memories take moto the better part of a minute.
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    many = item.get_closest_marker("hundreds") is not None or item.path.stem == "test_erasure"
    return parameters.get("store") == "dynamodb" and many


@pytest.fixture
def client_of(handler: Handler) -> ClientOf:
    def client_of(
        agent: str = "local", user: str = "local", scopes: str = " ".join(SCOPES)
    ) -> HttpClient:
        return EventClient(handler, claims_of(user, agent, scopes))

    return client_of


@pytest.fixture
def client(client_of: ClientOf) -> HttpClient:
    return client_of()


@pytest.fixture(params=["sqlite", "dynamodb"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store: Store
    if request.param == "sqlite":
        store = SqliteStore(tmp_path / "memories.db")
    else:
        client = request.getfixturevalue("dynamodb_client")
        store = DynamoDBStore(client, request.getfixturevalue("table"))
    yield store
    store.close()

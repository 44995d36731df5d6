"""The contract is the same on both stores."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dynamodb.moto_table import QuickMoto
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.port import Store
from memories.stores.sqlite import SqliteStore


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what would show nothing new: moto is slow, so on it each door has one way in."""
    items[:] = [item for item in items if not _is_superfluous(item)]


def _is_superfluous(item: pytest.Item) -> bool:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters.get("store") == "dynamodb" and parameters.get("door_of", "event") not in {
        "event",
        "mcp",
    }


@pytest.fixture(params=["sqlite", "dynamodb"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store: Store
    if request.param == "sqlite":
        store = SqliteStore(tmp_path / "memories.db")
    else:
        client = QuickMoto(request.getfixturevalue("dynamodb_client")).as_client()
        store = DynamoDBStore(client, request.getfixturevalue("table"))
    yield store
    store.close()

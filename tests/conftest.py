"""Fixtures: a clock, the stores, the service and the ways to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from moto import mock_aws
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from doors import Door, HttpDoor
from dynamodb.moto_table import new_table
from http_api.app import Handler, build_handler
from http_client import EventClient, HttpClient, SocketClient, Switchboard, serving
from memories.bootstrap import build_client
from memories.config import Settings
from memories.service import MemoryService
from memories.stores.port import Store
from memories.stores.sqlite import SqliteStore


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def dynamodb_client() -> Iterator[DynamoDBClient]:
    """A client whose requests moto answers, in this process."""
    with pytest.MonkeyPatch.context() as environment, mock_aws():
        environment.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        client = build_client(Settings())
        yield client
        client.close()


@pytest.fixture
def table(dynamodb_client: DynamoDBClient) -> Iterator[str]:
    with new_table(dynamodb_client) as name:
        yield name


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = SqliteStore(tmp_path / "memories.db", busy_timeout=0.05)
    yield store
    store.close()


@pytest.fixture
def service(store: Store, clock: Clock) -> MemoryService:
    return MemoryService(store, clock)


@pytest.fixture
def handler(service: MemoryService) -> Handler:
    return build_handler(service, Settings())


@pytest.fixture(scope="session")
def server() -> Iterator[tuple[Switchboard, SocketClient]]:
    switchboard = Switchboard()
    with serving(switchboard) as url:
        client = SocketClient(url)
        yield switchboard, client
        client.client.close()


@pytest.fixture(params=["event", "socket"])
def http(
    request: pytest.FixtureRequest,
    handler: Handler,
    server: tuple[Switchboard, SocketClient],
) -> HttpClient:
    """The HTTP door, once through events and once through a socket."""
    if request.param == "event":
        return EventClient(handler)
    switchboard, client = server
    switchboard.handler = handler
    return client


@pytest.fixture
def door(http: HttpClient) -> Door:
    return HttpDoor(http)

"""Fixtures: a clock, the stores, the service and the ways to it."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp.client.client import ConnectMode
from moto import mock_aws
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from doors import Door, HttpDoor
from dynamodb.moto_table import new_table
from http_api.app import Handler, build_handler
from http_client import EventClient, HttpClient, SocketClient, Switchboard, serving
from mcp_door import McpDoor
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
def running() -> Iterator[tuple[Switchboard, str]]:
    """The one-machine server, running over whatever service is put into its switchboard."""
    switchboard = Switchboard()
    with serving(cast("MemoryService", switchboard)) as url:
        yield switchboard, url


@pytest.fixture
def url(running: tuple[Switchboard, str], service: MemoryService) -> str:
    """The address of a server over this test's service."""
    switchboard, url = running
    switchboard.service = service
    return url


@pytest.fixture
def socket_client(url: str) -> Iterator[SocketClient]:
    client = SocketClient(url)
    yield client
    client.client.close()


@pytest.fixture(params=["event", "socket"])
def http(
    request: pytest.FixtureRequest, handler: Handler, socket_client: SocketClient
) -> HttpClient:
    """The HTTP door, once through events and once through a socket."""
    return EventClient(handler) if request.param == "event" else socket_client


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """A thread with an event loop, for clients that are asynchronous."""
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture(params=["event", "socket", "mcp", "mcp of 2025"])
def door(
    request: pytest.FixtureRequest,
    handler: Handler,
    socket_client: SocketClient,
    url: str,
    portal: BlockingPortal,
) -> Iterator[Door]:
    """Each way to the service: HTTP by event and by socket, MCP by both of its eras."""
    match request.param:
        case "event":
            yield HttpDoor(EventClient(handler))
        case "socket":
            yield HttpDoor(socket_client)
        case _:
            mode: ConnectMode = "legacy" if request.param == "mcp of 2025" else "2026-07-28"
            client = Client(f"{url}/mcp", mode=mode)
            with portal.wrap_async_context_manager(client):
                yield McpDoor(portal, client)

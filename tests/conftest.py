"""Fixtures: a clock, the stores, the service and the ways to it."""

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import cast

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.client import ConnectMode
from moto import mock_aws
from mypy_boto3_dynamodb import DynamoDBClient
from xdist.remote import Producer  # type: ignore[import-untyped]
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from clock import BackwardClock, Clock
from doors import Door, HttpDoor
from dynamodb.moto_table import new_table
from dynamodb.quick_moto import quick_moto
from http_api.app import Handler, build_handler
from http_client import (
    EventClient,
    HttpClient,
    SocketClient,
    Switchboard,
    claims_of,
    serving,
)
from mcp_door import McpDoor, mcp_door
from memories.bootstrap import build_client
from memories.config import Settings
from memories.service import MemoryService
from memories.stores.port import Store
from memories.stores.sqlite import SqliteStore

# Tests that share what takes long to set up, each group of them in one process: a deployment, the
# clients of others and their servers.
_TOGETHER = (
    "tests/e2e/",
    "tests/mcp_surface/test_clients.py",
    "tests/mcp_surface/test_conformance.py",
)


class Together(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Hands out tests one by one, and groups whole."""

    def _split_scope(self, nodeid: str) -> str:
        return next((group for group in _TOGETHER if nodeid.startswith(group)), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Together:
    return Together(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--clock", choices=["onward", "backward"], default="onward")


@pytest.fixture
def clock(pytestconfig: pytest.Config) -> Clock:
    return BackwardClock() if pytestconfig.getoption("clock") == "backward" else Clock()


@pytest.fixture(scope="session")
def dynamodb_client() -> Iterator[DynamoDBClient]:
    """A client whose requests moto answers, in this process."""
    with pytest.MonkeyPatch.context() as environment, mock_aws(), quick_moto():
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
    # As long as it takes: moto is slow, and slower beside other tests.
    return build_handler(service, Settings(), time_limit=math.inf)


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


@pytest.fixture(scope="session")
def mcp_door_of(
    running: tuple[Switchboard, str], portal: BlockingPortal
) -> Iterator[Callable[[ConnectMode, str], McpDoor]]:
    """MCP clients as an agent, kept: what each of them does to know the tools takes long."""
    _, url = running
    with ExitStack() as stack:
        yield cache(lambda mode, agent: stack.enter_context(mcp_door(portal, url, mode, agent)))


@pytest.fixture(params=["event", "socket", "mcp", "mcp of 2025"])
def door_of(
    request: pytest.FixtureRequest,
    handler: Handler,
    url: str,
    mcp_door_of: Callable[[ConnectMode, str], McpDoor],
) -> Iterator[Callable[[str], Door]]:
    """Each way to the service, as an agent: HTTP by event and by socket, MCP by both its eras."""
    with ExitStack() as stack:

        def door_of(agent: str) -> Door:
            match request.param:
                case "event":
                    return HttpDoor(EventClient(handler, claims_of("local", agent)))
                case "socket":
                    client = SocketClient(url, agent)
                    stack.callback(client.client.close)
                    return HttpDoor(client)
                case _:
                    return mcp_door_of(
                        "legacy" if request.param == "mcp of 2025" else "2026-07-28", agent
                    )

        yield door_of


@pytest.fixture
def door(door_of: Callable[[str], Door]) -> Door:
    """Each way to the service, as the agent that names itself nothing else."""
    return door_of("local")

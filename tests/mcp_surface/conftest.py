"""Fixtures: the MCP door through the SDK's client, in each of its eras."""

from collections.abc import Iterator

import pytest
from anyio.from_thread import BlockingPortal
from mcp.client.client import ConnectMode

from mcp_door import McpDoor, mcp_door


@pytest.fixture(params=["legacy", "auto"])
def mcp(request: pytest.FixtureRequest, url: str, portal: BlockingPortal) -> Iterator[McpDoor]:
    """The door over HTTP: by the handshake of 2025, and by what 2026-07-28 discovers."""
    mode: ConnectMode = request.param
    with mcp_door(portal, url, mode, "local") as door:
        yield door

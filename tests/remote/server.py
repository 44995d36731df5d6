"""The remote server on a socket, and two ways to it: the SDK's client, and raw requests."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from anyio.from_thread import BlockingPortal
from mcp.client.client import ConnectMode

from http_client import NO_TLS, serving_app
from issuer import AUDIENCE, Issuer
from mcp_door import McpDoor, connected
from mcp_server.keys import IssuerKeys
from mcp_server.remote import build_remote
from mcp_server.tokens import TokenVerifier
from memories.config import Settings
from memories.service import MemoryService

PUBLIC_URL = "https://memories.example"
METADATA_URL = f"{PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"
ORIGIN = "https://chat.example"


class Seconds:
    """A clock of seconds that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Remote:
    """A running remote server, whose clock the test moves."""

    url: str
    issuer: Issuer
    clock: Seconds
    verifier: TokenVerifier

    def post(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        token: str | None = None,
        **headers: str,
    ) -> httpx.Response:
        """Send one message as a client of the revision of 2025 does, without a handshake."""
        authorization = {} if token is None else {"authorization": f"Bearer {token}"}
        return httpx.post(
            f"{self.url}/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params or {})},
            headers={
                "accept": "application/json, text/event-stream",
                "mcp-protocol-version": "2025-11-25",
                **authorization,
                **{name.replace("_", "-"): value for name, value in headers.items()},
            },
            verify=NO_TLS,
        )

    def call(self, tool: str, token: str, **arguments: Any) -> httpx.Response:
        return self.post("tools/call", {"name": tool, "arguments": arguments}, token)


def settings_for(issuer: Issuer, **changed: Any) -> Settings:
    given: dict[str, Any] = {
        "issuer": issuer.url,
        "audience": (AUDIENCE,),
        "public_url": PUBLIC_URL,
        "allowed_hosts": ("127.0.0.1:*",),
        "origins": (ORIGIN,),
    }
    return Settings(**given | changed)


@contextmanager
def remote_over(service: MemoryService, issuer: Issuer, **changed: Any) -> Iterator[Remote]:
    settings = settings_for(issuer, **changed)
    clock = Seconds()
    verifier = TokenVerifier(settings, IssuerKeys(settings.issuer, clock=clock), clock)
    with serving_app(lambda _: build_remote(service, verifier, settings)) as url:
        yield Remote(url, issuer, clock, verifier)


@contextmanager
def door_of(
    url: str, portal: BlockingPortal, token: str, mode: ConnectMode = "2026-07-28", **headers: str
) -> Iterator[McpDoor]:
    """The SDK's client with a token, to a server at ``url``."""
    headers = {"Authorization": f"Bearer {token}"} | headers
    sent = {name.encode(): value.encode() for name, value in headers.items()}
    with connected(portal, url, mode, sent) as door:
        yield door

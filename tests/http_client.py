"""Two ways to the HTTP door: an event for the handler, and a socket to the running server."""

import base64
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote

import httpx
from starlette.types import ASGIApp

from http_api.app import Handler
from local.server import application, listen, url_of
from mcp_server.connection import Connection
from mcp_server.serving import server_for
from memories.config import Settings
from memories.principal import SCOPES
from memories.service import MemoryService

JSON = {"content-type": "application/json"}
SETTINGS = Settings()

# For clients that speak plain HTTP: to load the authorities takes longer than most tests.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)


class HttpClient(Protocol):
    def request(
        self,
        method: str,
        target: str,
        body: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request; ``target`` is the path and query as they go over the wire."""

    def send(self, method: str, target: str, body: object = None, **headers: str) -> Answer:
        """Send ``body`` as JSON; a header's name is written with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is None:
            return self.request(method, target, headers=named)
        return self.request(method, target, json.dumps(body), JSON | named)


class EventClient(HttpClient):
    """Hands API Gateway events to the handler."""

    def __init__(self, handler: Handler, claims: Mapping[str, str] | None = None) -> None:
        self.handler = handler
        self.claims = claims_of("local") if claims is None else claims

    def request(
        self,
        method: str,
        target: str,
        body: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        event = event_of(method, target, body, headers or {}, self.claims)
        answer = self.handler(event, None)
        text = answer["body"]
        if answer["isBase64Encoded"]:
            text = base64.b64decode(text).decode()
        names = {name.lower(): value for name, value in answer["headers"].items()}
        return Answer(answer["statusCode"], names, text)


class SocketClient(HttpClient):
    """Speaks HTTP to a server."""

    def __init__(self, url: str, agent: str = "") -> None:
        headers = {b"x-agent-id": agent.encode()} if agent else {}
        self.client = httpx.Client(base_url=url, headers=headers, timeout=30, verify=NO_TLS)

    def request(
        self,
        method: str,
        target: str,
        body: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        # The raw target: a client that normalises it would hide what the server does with it.
        url = httpx.URL(self.client.base_url).copy_with(raw_path=target.encode())
        raw = {name.encode(): value.encode() for name, value in (headers or {}).items()}
        answer = self.client.request(method, url, content=body, headers=raw)
        return Answer(answer.status_code, answer.headers, answer.text)


class Switchboard:
    """A service in whose place another can be put, so that one server serves many tests."""

    def __init__(self) -> None:
        self.service: MemoryService | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.service, name)


@contextmanager
def serving(service: MemoryService, settings: Settings = SETTINGS) -> Iterator[str]:
    """Run the one-machine server over ``service`` in a thread, and yield its address."""
    with serving_app(lambda listener: application(service, settings, listener)) as url:
        yield url


@contextmanager
def serving_app(
    build: Callable[[socket.socket], ASGIApp],
    connections: int = SETTINGS.connections,
    connection: type[Connection] = Connection,
) -> Iterator[str]:
    """Run the application for a listener in a thread, and yield its address."""
    with listen("127.0.0.1", 0) as listener:
        server = server_for(build(listener), connections, connection)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield url_of(listener)
        finally:
            server.should_exit = True
            thread.join()


def claims_of(
    user_id: str, agent_id: str = "local", scopes: str = " ".join(SCOPES)
) -> dict[str, str]:
    return {"sub": user_id, "client_id": agent_id, "scope": scopes}


def event_of(
    method: str,
    target: str,
    body: str | bytes | None,
    headers: Mapping[str, str],
    claims: Mapping[str, str],
) -> dict[str, Any]:
    """Return what API Gateway makes of a request, in payload version 2.0."""
    path, _, query = target.partition("?")
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": unquote(path),
        "rawQueryString": query,
        "headers": {name.lower(): value for name, value in headers.items()},
        "requestContext": {
            "http": {"method": method, "path": unquote(path), "protocol": "HTTP/1.1"},
            "requestId": "event",
            "stage": "$default",
        },
        "isBase64Encoded": isinstance(body, bytes),
    }
    if claims:
        event["requestContext"]["authorizer"] = {"jwt": {"claims": dict(claims), "scopes": None}}
    if body is not None:
        event["body"] = base64.b64encode(body).decode() if isinstance(body, bytes) else body
    return event

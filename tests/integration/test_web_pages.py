"""Web pages of the origins that are let in: what a browser lets them send and read."""

from collections.abc import Iterator

import pytest

from doors import draft
from http_client import SocketClient, serving
from local.cors import METHODS, READ, SENT
from memories.config import Settings
from memories.service import MemoryService
from template import template

ORIGIN = "https://app.example"


@pytest.fixture
def client(service: MemoryService) -> Iterator[SocketClient]:
    with serving(service, Settings(origins=(ORIGIN,))) as url:
        client = SocketClient(url)
        yield client
        client.client.close()


@pytest.mark.parametrize("method", METHODS)
def test_a_page_may_use_every_method_and_header(client: SocketClient, method: str) -> None:
    asked = {"access_control_request_method": method}
    for header in SENT:
        asked["access_control_request_headers"] = header
        answer = client.send("OPTIONS", "/memories/1", origin=ORIGIN, **asked)
        assert answer.status == 200
        assert answer.headers["access-control-allow-origin"] == ORIGIN
        assert method in answer.headers["access-control-allow-methods"]
        assert header in answer.headers["access-control-allow-headers"]


def test_a_page_may_read_the_answer_and_what_its_headers_say(client: SocketClient) -> None:
    answer = client.send("POST", "/memories", draft(), origin=ORIGIN)

    assert answer.status == 201
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    exposed = set(answer.headers["access-control-expose-headers"].split(", "))
    assert {"etag", "location", "x-request-id", "retry-after"} <= exposed


def test_a_page_from_elsewhere_may_not(client: SocketClient) -> None:
    other = "https://evil.example"
    asked = {"access_control_request_method": "PUT"}

    assert client.send("OPTIONS", "/memories/1", origin=other, **asked).status == 400
    answer = client.send("GET", "/memories", origin=other)
    assert answer.status == 403
    assert "access-control-allow-origin" not in answer.headers


def test_without_origins_no_page_is_let_in(socket_client: SocketClient) -> None:
    answer = socket_client.send("GET", "/memories", origin="http://localhost:3000")

    assert "access-control-allow-origin" not in answer.headers


def test_in_the_cloud_it_is_the_same() -> None:
    _, on, _ = template()["Resources"]["Api"]["Properties"]["CorsConfiguration"]["Fn::If"]

    assert on["AllowMethods"] == METHODS
    of_mcp = {"mcp-method", "mcp-name", "mcp-protocol-version"}
    assert {*on["AllowHeaders"]} - of_mcp == {*SENT} - {"x-agent-id"}
    assert {*on["ExposeHeaders"]} == {*READ}

"""What the gateway of the one-machine server does beside the handler."""

import json
import socket
from collections.abc import Iterator

import pytest

from doors import draft
from http_client import JSON, SocketClient


@pytest.fixture
def client(socket_client: SocketClient) -> SocketClient:
    return socket_client


def exchange(client: SocketClient, *chunks: bytes) -> bytes:
    """Send raw bytes and return all that comes back until the server closes."""
    url = client.client.base_url
    with socket.create_connection((url.host, url.port or 80), timeout=10) as connection:
        for chunk in chunks:
            try:
                connection.sendall(chunk)
            except OSError:
                break  # it has answered and closed already
        answer = b""
        while True:
            try:
                received = connection.recv(65536)
            except ConnectionError:
                return answer
            if not received:
                return answer
            answer += received


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST", "localhost:9", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:8000"],
)
def test_the_names_of_this_machine_are_answered(client: SocketClient, host: str) -> None:
    assert client.send("GET", "/memories", host=host).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "0.0.0.0", "[::2]"],
)
def test_a_name_that_a_web_page_may_own_is_refused(client: SocketClient, host: str) -> None:
    answer = client.send("POST", "/memories", draft(), host=host)

    assert answer.status == 403
    assert "localhost" in answer.body["detail"]
    assert answer.headers["x-request-id"]
    assert client.send("GET", "/memories").body["total"] == 0


def test_a_large_body_is_refused_before_it_is_sent(client: SocketClient) -> None:
    head = b"POST /memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999999\r\n\r\n"

    answer = exchange(client, head)

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'{"detail":' in answer


def test_a_body_of_no_declared_size_is_refused_once_it_is_too_large(client: SocketClient) -> None:
    def body() -> Iterator[bytes]:
        yield b"POST /memories HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
        yield b"Content-Type: application/json\r\n\r\n"
        for _ in range(1_000):
            yield b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        yield b"0\r\n\r\n"

    assert exchange(client, *body()).startswith(b"HTTP/1.1 413 ")
    assert client.send("GET", "/memories").body["total"] == 0


def test_a_body_in_chunks_is_read_whole(client: SocketClient) -> None:
    text = json.dumps(draft("In chunks"))
    answer = client.client.post(
        "/memories", content=(letter.encode() for letter in text), headers=JSON
    )

    assert (answer.status_code, answer.json()["content"]) == (201, "In chunks")


@pytest.mark.parametrize("agent", ["cli", "an agent / with # signs", "x" * 256])
def test_a_caller_may_name_its_agent(client: SocketClient, agent: str) -> None:
    assert client.send("POST", "/memories", draft(), x_agent_id=agent).status == 201


@pytest.mark.parametrize("agent", ["", "x" * 257])
def test_an_agent_name_that_is_none_is_401(client: SocketClient, agent: str) -> None:
    assert client.send("GET", "/memories", x_agent_id=agent).status == 401


def test_no_header_of_the_request_makes_another_user(client: SocketClient) -> None:
    client.send("POST", "/memories", draft())

    answer = client.send("GET", "/memories", x_user_id="someone", authorization="Bearer x")

    assert answer.body["total"] == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost.evil.example"},
        {"sec_fetch_site": "cross-site"},
    ],
    ids=repr,
)
def test_a_web_page_from_elsewhere_is_refused(
    client: SocketClient, headers: dict[str, str]
) -> None:
    answer = client.send("GET", "/memories", **headers)

    assert answer.status == 403
    assert "web page" in answer.body["detail"]


@pytest.mark.parametrize(
    "headers", [{"origin": "http://localhost:3000", "sec_fetch_site": "same-site"}, {}], ids=repr
)
def test_a_page_of_this_machine_is_answered(client: SocketClient, headers: dict[str, str]) -> None:
    assert client.send("GET", "/memories", **headers).status == 200

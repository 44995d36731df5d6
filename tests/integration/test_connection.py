"""What one connection may ask of a server, and how many there may be."""

import json
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import pytest

from http_client import SocketClient, serving_app
from local.identity import AGENT, principal_for
from local.server import application
from mcp_server.connection import MAX_HEAD, Connection
from memories.config import InvalidSetting, Settings
from memories.models import MemoryDraft
from memories.service import MemoryService
from processes import Server

HEAD = b"POST /memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
MOMENT = 0.3


class Hasty(Connection):
    """A connection that waits for little more than nothing."""

    request_timeout = MOMENT
    answer_timeout = MOMENT


class Raw:
    """A connection that says exactly what it is told to."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.socket = socket.create_connection((str(parts.hostname), parts.port or 80), timeout=10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, *chunks: bytes) -> Self:
        for chunk in chunks:
            try:
                self.socket.sendall(chunk)
            except OSError:
                break  # it has answered and closed already
        return self

    def read(self) -> bytes:
        """Return all that comes until the server closes."""
        answer = b""
        while True:
            try:
                received = self.socket.recv(65536)
            except ConnectionError:
                return answer
            if not received:
                return answer
            answer += received


def told(answer: bytes) -> tuple[int, dict[str, str], Any]:
    """Return status, headers and body of a whole answer."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    assert len(body) == int(headers["content-length"])
    return int(first.split()[1]), headers, json.loads(body)


def status_of(url: str) -> int:
    """Ask on a new connection."""
    with Raw(url) as raw:
        return told(raw.send(HEALTH[:-2], b"Connection: close\r\n\r\n").read())[0]


Serve = Callable[..., Any]


@pytest.fixture
def serve(service: MemoryService) -> Serve:
    @contextmanager
    def serve(connections: int = 2048) -> Iterator[str]:
        def build(listener: socket.socket) -> Any:
            return application(service, Settings(), listener)

        with serving_app(build, connections, Hasty) as url:
            yield url

    return serve


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET /memories HTTP/9.9\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET memories HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nnot a size\r\n",
        HEAD + b"a b: c\r\n\r\n",
        HEAD + b"Na\x00me: c\r\n\r\n",
    ],
    ids=lambda sent: repr(sent[:24]),
)
def test_what_is_no_http_is_told_in_the_shape_of_every_error(url: str, sent: bytes) -> None:
    with Raw(url) as raw:
        status, headers, body = told(raw.send(sent).read())

    assert (status, body) == (400, {"detail": "Malformed HTTP request"})
    assert headers["content-type"] == "application/json"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-request-id"]


@pytest.mark.parametrize(
    "chunks",
    [
        [HEAD, b"X: " + b"x" * MAX_HEAD + b"\r\n\r\n"],
        [HEAD, *[b"X: " + b"x" * 1_000 + b"\r\n"] * 40, b"\r\n"],
        [HEAD, *[b"X" * 10_000] * 1_000],
        [b"GET /memories?q=" + b"x" * MAX_HEAD + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ],
    ids=["a header", "many headers", "a header without end", "a query"],
)
def test_a_head_that_is_too_large_is_431(url: str, chunks: list[bytes]) -> None:
    with Raw(url) as raw:
        status, _, body = told(raw.send(*chunks).read())

    assert (status, "32768 bytes" in body["detail"]) == (431, True)


def test_a_head_that_is_not_too_large_is_read(url: str) -> None:
    with Raw(url) as raw:
        long = b"X: " + b"x" * (MAX_HEAD - 1_000) + b"\r\nConnection: close\r\n\r\n"
        head = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
        assert told(raw.send(head, long).read())[2] == {"status": "ok"}


@pytest.mark.parametrize(
    "sent",
    [HEAD, HEAD + b"Content-Length: 60\r\n\r\n{", b"POST /mem"],
    ids=["no end of the head", "no end of the body", "no end of the line"],
)
def test_a_request_that_does_not_end_is_408(serve: Serve, sent: bytes) -> None:
    with serve() as url, Raw(url) as raw:
        started = time.monotonic()
        status, _, body = told(raw.send(sent).read())
        assert (status, body["detail"].startswith("The request did not")) == (408, True)
        assert time.monotonic() - started < 5
        assert status_of(url) == 200


def test_a_drop_now_and_then_gains_no_time(serve: Serve) -> None:
    with serve() as url, Raw(url) as raw:
        raw.send(HEAD + b"Content-Length: 6000\r\n\r\n")
        raw.socket.settimeout(MOMENT / 10)
        drops = 0
        while True:
            try:
                answer = raw.socket.recv(65536)
                break
            except TimeoutError:
                raw.send(b" ")
                drops += 1
        assert told(answer)[0] == 408
        assert 2 < drops < 100


def test_a_connection_that_says_nothing_is_closed(serve: Serve) -> None:
    with serve() as url, Raw(url) as raw:
        assert raw.read() == b""


def test_a_client_that_takes_no_answer_is_left(serve: Serve, service: MemoryService) -> None:
    long = MemoryDraft(content="\u592a" * 8_000, tags=["t"])
    for _ in range(4):
        service.record_batch(principal_for(AGENT), [long] * 25)
    page = b"GET /memories?limit=100 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    # The one place is taken for as long as the answers are waiting to be taken.
    with serve(connections=1) as url, Raw(url) as lazy:
        lazy.send(page * 8)
        first = status_of(url)
        ends = time.monotonic() + 20
        while status_of(url) != 200:
            assert time.monotonic() < ends
        assert first == 503


def test_a_body_that_breaks_off_is_not_taken_for_a_whole_one(url: str) -> None:
    body = b'{"content": "Likes tea", "tags": ["test"]}'
    with Raw(url) as raw:
        raw.send(HEAD + b"Content-Length: 100\r\n\r\n" + body)
        raw.socket.shutdown(socket.SHUT_RDWR)

    client = SocketClient(url)
    assert client.send("GET", "/memories").body["total"] == 0
    client.client.close()


def test_too_many_connections_are_told_to_come_back_and_those_before_are_served(
    serve: Serve,
) -> None:
    with serve(connections=2) as url, Raw(url) as one, Raw(url) as two:
        for raw in (one, two):
            raw.send(HEALTH)
            assert raw.socket.recv(65536).startswith(b"HTTP/1.1 200 ")
        with Raw(url) as three:
            status, headers, body = told(three.send(HEALTH).read())
        assert (status, body) == (503, {"detail": "Too many connections; try again"})
        assert headers["retry-after"] == "1"
        assert headers["x-request-id"]
        one.send(HEALTH)
        assert one.socket.recv(65536).startswith(b"HTTP/1.1 200 ")
        one.socket.close()
        two.socket.close()
        ends = time.monotonic() + 10
        while status_of(url) != 200:
            assert time.monotonic() < ends


def test_a_server_that_is_started_with_few_files_allowed_takes_all_its_connections(
    tmp_path: Path,
) -> None:
    few, connections = 200, 300
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, allowed[1]))
    try:
        server = Server(tmp_path / "m.db", [], {})
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, allowed)
    with ExitStack() as stack:
        stack.callback(server.stop, signal.SIGKILL)
        for _ in range(connections):
            raw = stack.enter_context(Raw(server.url))
            assert raw.send(HEALTH).socket.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_requests_far_ahead_of_their_answers_are_not_kept(url: str) -> None:
    with Raw(url) as raw:
        answers = raw.send(HEALTH * 2_000).read()

    assert answers.count(b"HTTP/1.1 200") < 100


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_a_number_of_connections_that_is_none_is_told(number: str) -> None:
    with pytest.raises(InvalidSetting, match="MEMORIES_CONNECTIONS"):
        Settings.from_environment({"MEMORIES_CONNECTIONS": number})

"""A load generator: keep-alive connections that send prepared requests and read the answers.

It does as little as it can for an answer (find the status and the length, skip the body), so that
what is measured is the server. HTTP/1.1 with Content-Length only.
"""

import asyncio
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

# An answer that takes longer than this means that the run is broken, in seconds.
_STALLED = 30.0

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class UnexpectedAnswer(Exception):
    """A request was not answered as the run expects; its figures would mean nothing."""


@dataclass(frozen=True, slots=True)
class Load:
    """What to send, until one of the bounds is reached, and the status each answer must have.

    The requests go on from one run to the next.
    """

    requests: Iterator[bytes]
    status: int
    clients: int
    most: "Most"


@dataclass(frozen=True, slots=True)
class Most:
    """The bounds of a run: whichever comes first ends it."""

    requests: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many answers came, in how many seconds."""

    answers: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.answers / self.seconds


def request(method: str, target: str, body: object = None) -> bytes:
    """Return a whole request, ready to be sent. ``target`` is percent-encoded already."""
    head = f"{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    if body is None:
        return f"{head}\r\n".encode()
    content = json.dumps(body, ensure_ascii=False).encode()
    head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


async def run(port: int, load: Load) -> Outcome:
    """Send the requests in turn, over ``load.clients`` connections to 127.0.0.1.

    Raises UnexpectedAnswer.
    """
    loop = asyncio.get_running_loop()
    clients = []
    for _ in range(load.clients):
        _, client = await loop.create_connection(
            lambda: _Client(load.requests, load.status), "127.0.0.1", port
        )
        clients.append(client)
    started = time.perf_counter()
    budget = _Budget(load.most.requests, started + load.most.seconds)
    for client in clients:
        client.start(budget)
    try:
        async with asyncio.timeout(load.most.seconds + _STALLED):
            await asyncio.gather(*(client.done for client in clients))
    finally:
        for client in clients:
            client.close()
    return Outcome(sum(client.answers for client in clients), time.perf_counter() - started)


class _Budget:
    """What all the connections of a run may still send."""

    def __init__(self, requests: int, until: float) -> None:
        self._left = requests
        self._until = until

    def take(self) -> bool:
        self._left -= 1
        return self._left >= 0 and time.perf_counter() < self._until


class _Client(asyncio.Protocol):
    def __init__(self, source: Iterator[bytes], status: int) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.answers = 0
        self._source = source
        self._expected = b"HTTP/1.1 %d " % status
        self._buffer = b""
        self._needed = 0  # Bytes of the whole answer, once its head has come.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not subclasses of asyncio's.
        self._transport = cast("asyncio.Transport", transport)

    def start(self, budget: _Budget) -> None:
        self._budget = budget
        self._next()

    def close(self) -> None:
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._needed:
            head_end = self._buffer.find(b"\r\n\r\n")
            if head_end < 0:
                return
            length = _LENGTH.search(self._buffer, 0, head_end)
            if not self._buffer.startswith(self._expected) or not length:
                self._fail(f"expected {self._expected!r}, got {self._buffer[:300]!r}")
                return
            self._needed = head_end + 4 + int(length[1])
        if len(self._buffer) >= self._needed:
            self._buffer = self._buffer[self._needed :]
            self._needed = 0
            self.answers += 1
            self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(f"the connection was lost: {exc}")

    def _next(self) -> None:
        if self._budget.take():
            self._transport.write(next(self._source))
        elif not self.done.done():
            self.done.set_result(None)

    def _fail(self, reason: str) -> None:
        if not self.done.done():
            self.done.set_exception(UnexpectedAnswer(reason))

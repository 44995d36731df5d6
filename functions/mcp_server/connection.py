"""A client's connection, within bounds: how many, for how long, and how much of a head.

The server behind it reads any number of headers, waits for a request without end, and refuses in
plain text. Here each refusal has the shape of every other.
"""

import asyncio
import json
import uuid
from http import HTTPStatus

from starlette.responses import JSONResponse, Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD = 32 * 1024
"""The most bytes of a request before its body: a token alone may have half of them."""

# In seconds: for a client to send a request whole, and to take its answer.
REQUEST_TIMEOUT = 30.0
ANSWER_TIMEOUT = 60.0
# For another request on a connection.
KEEP_ALIVE = 5
# Requests that a client sends before it has the answers to those before.
MAX_PIPELINED = 16

_RETRY_AFTER = 1


class Connection(HttpToolsProtocol):
    """One connection of uvicorn's."""

    request_timeout = REQUEST_TIMEOUT
    answer_timeout = ANSWER_TIMEOUT

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline: asyncio.TimerHandle | None = None
        # Of the request that is being read: whether there is one, and the size of its head.
        self._reading = False
        self._head: int | None = 0
        self._refusal = (HTTPStatus.BAD_REQUEST, "Malformed HTTP request")
        most = self.config.limit_concurrency
        # Refused is this one, not whoever is here already.
        self.limit_concurrency = None
        if most is not None and len(self.connections) > most:
            self.app = _overloaded()
        self._allow(self.request_timeout)

    def connection_lost(self, exc: Exception | None) -> None:
        self._allow(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head is not None and not self.transport.is_closing():
            # The parser keeps to itself what it has of a header that has no end yet.
            self._head += len(data)
            if self._head > MAX_HEAD:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _HEAD_TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._reading, self._head = True, 0
        self._allow(self.request_timeout)
        if len(self.pipeline) >= MAX_PIPELINED:
            raise _Refused

    def on_headers_complete(self) -> None:
        self._head = None
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > MAX_HEAD:
            self._refusal = (HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _HEAD_TOO_LARGE)
            raise _Refused
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._reading = False
        if not self.cycle.response_complete:
            self._allow(None)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._allow(self.answer_timeout)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  (in the parser's own words)
        self._refuse(*self._refusal)

    def _allow(self, seconds: float | None) -> None:
        """Give the client so long for its next step, or as long as it takes."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        if self._reading and not self.transport.is_closing():
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "The request did not come to its end in time")
        else:
            self.transport.abort()

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        answering = self.cycle and self.cycle.response_started and not self.cycle.response_complete
        if answering or self.pipeline:
            # It would be taken for a part of an answer, or for the answer to an earlier request.
            self.transport.abort()
        else:
            self.transport.write(_answer(status, detail))
            self.transport.close()
            self._allow(self.answer_timeout)


class _Refused(Exception):
    """What is parsed is not to be served."""


_HEAD_TOO_LARGE = f"The request's line and headers are larger than {MAX_HEAD} bytes"
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    # What was not read of the request is not to be taken for the next one.
    "Connection": "close",
}


def _overloaded() -> Response:
    headers = {**_HEADERS, "X-Request-Id": str(uuid.uuid4()), "Retry-After": str(_RETRY_AFTER)}
    return JSONResponse({"detail": "Too many connections; try again"}, 503, headers)


def _answer(status: HTTPStatus, detail: str) -> bytes:
    body = json.dumps({"detail": detail}).encode()
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "X-Request-Id": str(uuid.uuid4()),
        **_HEADERS,
    }
    lines = [f"HTTP/1.1 {status.value} {status.phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body

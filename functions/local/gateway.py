"""A gateway on one machine: what API Gateway does for the HTTP function, as an ASGI app.

Each request becomes an event of payload version 2.0 for the real Lambda handler, so what runs here
is what runs in the cloud. The gateway is also the authorizer: on loopback the user is ``local``.
"""

import base64
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from http_api.app import Handler, stamped
from http_api.errors import JSON
from local.identity import NAMES, agent_in, claims_of, decoded, principal_for
from mcp_server.body import read_body
from memories.errors import PayloadTooLarge, Unauthenticated

_LOOPBACK = re.compile(rf"({'|'.join(map(re.escape, NAMES))})(:[0-9]+)?")


class _Foreign(Exception):
    """The request comes from a page, or by a name, that is not this machine's."""


@dataclass(frozen=True, slots=True)
class _Context:
    """What Lambda tells a function of its invocation."""

    aws_request_id: str
    function_name: str = "memories-http-api"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:local:000000000000:function:memories-http-api"


class Gateway:
    """ASGI application over a Lambda handler, which it calls for one request at a time."""

    def __init__(self, handler: Handler, origins: Sequence[str] = ()) -> None:
        """``origins`` are those of the web pages that may call, besides this machine's own."""
        self._handler = handler
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope["headers"])
        try:
            self._check(headers)
            agent_id = principal_for(agent_in(scope["headers"])).agent_id
            body = await read_body(scope, receive)
        except _Foreign as error:
            answer = _refused(403, str(error), headers)
        except Unauthenticated as error:
            answer = _refused(401, str(error), headers)
        except PayloadTooLarge as error:
            answer = _refused(413, str(error), headers)
        except ClientDisconnect:
            return
        else:
            answer = self._invoke(_event(scope, headers, agent_id, body))
        await _reply(send, answer)

    def _check(self, headers: Mapping[str, str]) -> None:
        # A page in a browser can point a name of its own at 127.0.0.1, but cannot hide that name.
        if not _LOOPBACK.fullmatch(headers.get("host", "").lower()):
            raise _Foreign("This server answers only to localhost, 127.0.0.1 and [::1]")
        # Nor can it hide that it is a page from elsewhere, even where it may not read the answer.
        origin = headers.get("origin", "")
        named = origin.lower().removeprefix("https://").removeprefix("http://")
        elsewhere = headers.get("sec-fetch-site") == "cross-site"
        if origin not in self._origins and (
            elsewhere or (origin and not _LOOPBACK.fullmatch(named))
        ):
            raise _Foreign("This server answers no web page from elsewhere; see MEMORIES_ORIGINS")

    def _invoke(self, event: dict[str, Any]) -> dict[str, Any]:
        # Called right here, not from a thread: the resolver in the handler keeps the event in its
        # class, so requests take turns anyway, and handing each to a thread and back costs as
        # much as answering it.
        return self._handler(event, _Context(event["requestContext"]["requestId"]))


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), decoded(value)
        headers[key] = f"{headers[key]},{text}" if key in headers else text
    return headers


def _event(scope: Scope, headers: dict[str, str], agent_id: str, body: bytes) -> dict[str, Any]:
    now = datetime.now(UTC)
    client = scope.get("client") or ("127.0.0.1", 0)
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": scope["path"],
        "rawQueryString": scope["query_string"].decode("latin-1"),
        "headers": headers,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "local",
            "authorizer": {"jwt": {"claims": claims_of(agent_id), "scopes": None}},
            "domainName": headers.get("host", ""),
            "domainPrefix": "local",
            "http": {
                "method": scope["method"],
                "path": scope["path"],
                "protocol": f"HTTP/{scope['http_version']}",
                "sourceIp": client[0],
                "userAgent": headers.get("user-agent", ""),
            },
            "requestId": str(uuid.uuid4()),
            "routeKey": "$default",
            "stage": "$default",
            "time": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
            "timeEpoch": int(now.timestamp() * 1000),
        },
        "isBase64Encoded": False,
    }
    if event["rawQueryString"]:
        event["queryStringParameters"] = _joined(parse_qsl(event["rawQueryString"], True))
    if body:
        try:
            event["body"] = body.decode()
        except UnicodeDecodeError:
            event |= {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
    return event


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in pairs:
        values[name] = f"{values[name]},{value}" if name in values else value
    return values


def _refused(status: int, detail: str, headers: Mapping[str, str]) -> dict[str, Any]:
    # What was not read of this request is not to be taken for the next one.
    refusal_headers = {"Content-Type": JSON, "Connection": "close"}
    body = json.dumps({"detail": detail})
    return stamped({"statusCode": status, "headers": refusal_headers, "body": body}, headers)


async def _reply(send: Send, answer: dict[str, Any]) -> None:
    body = answer.get("body") or ""
    content = base64.b64decode(body) if answer.get("isBase64Encoded") else body.encode()
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1"))
        for name, value in answer["headers"].items()
    ]
    headers.append((b"content-length", str(len(content)).encode()))
    await send({"type": "http.response.start", "status": answer["statusCode"], "headers": headers})
    await send({"type": "http.response.body", "body": content})

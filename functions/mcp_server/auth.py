"""Who may call over the network: a guard before ``/mcp``, which answers 401, 403 and 503."""

import json
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_server.body import read_body
from mcp_server.http import PATH
from mcp_server.keys import KeysUnavailable
from mcp_server.metadata import metadata_url_of, scopes_of
from mcp_server.policy import MEMORY
from mcp_server.server import Context
from mcp_server.tokens import TokenVerifier
from mcp_server.tools import TOOLS
from memories.config import Settings
from memories.errors import MissingScope, PayloadTooLarge, Unauthenticated
from memories.principal import READ, WRITE, Principal

# What any request can need: one whose token allows both is let through unread.
_ALL = (READ, WRITE)

_PRINCIPAL = "memories.principal"
_MEMORY_URIS = MEMORY.uri_template.partition("{")[0]


class _NoToken(Unauthenticated):
    """The request does not try to say who makes it."""


class Guard:
    """Lets a request to ``/mcp`` through, with its principal, if its token allows it."""

    def __init__(self, app: ASGIApp, verifier: TokenVerifier, settings: Settings) -> None:
        self._app = app
        self._verifier = verifier
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH:
            return await self._app(scope, receive, send)
        try:
            principal = await self._verifier.verify(_token(scope))
            if not principal.scopes.issuperset(_ALL):
                body = await read_body(scope, receive)
                _require(principal, body)
                receive = _replayed(body, receive)
        except ClientDisconnect:
            return None
        except (KeysUnavailable, Unauthenticated, MissingScope, PayloadTooLarge) as error:
            return await self._refusal(error)(scope, receive, send)
        return await self._app({**scope, _PRINCIPAL: principal}, receive, send)

    def _refusal(self, error: Exception) -> Response:
        match error:
            case KeysUnavailable(retry_after=seconds):
                detail = f"Tokens cannot be verified now; try again in {seconds} s"
                return _answer(503, detail, {"Retry-After": str(seconds)})
            case _NoToken():
                return _answer(401, str(error), self._challenge("", _ALL))
            case Unauthenticated():
                return _answer(401, str(error), self._challenge("invalid_token", _ALL))
            case MissingScope(scope=scope):
                return _answer(403, str(error), self._challenge("insufficient_scope", [scope]))
            case _:
                # What was not read of the request is not to be taken for the next one.
                return _answer(413, str(error), {"Connection": "close"})

    def _challenge(self, error: str, scopes: Iterable[str]) -> dict[str, str]:
        told = {
            "error": error,
            "scope": " ".join(scopes_of(self._settings, scopes)),
            "resource_metadata": metadata_url_of(self._settings),
        }
        parameters = ", ".join(f'{name}="{value}"' for name, value in told.items() if value)
        return {"WWW-Authenticate": f"Bearer {parameters}"}


def identify(context: Context) -> Principal:
    """Return whom the guard let through."""
    assert context.request  # this transport always has one
    principal = context.request.scope[_PRINCIPAL]
    assert isinstance(principal, Principal)
    return principal


def _token(scope: Scope) -> str:
    sent = Headers(scope=scope).getlist("authorization")
    if not sent:
        raise _NoToken("send a bearer token")
    kind, _, token = sent[0].strip().partition(" ")
    if len(sent) > 1 or kind.lower() != "bearer" or not token.strip():
        raise Unauthenticated("send one header, Authorization: Bearer <token>")
    return token.strip()


def _replayed(body: bytes, receive: Receive) -> Receive:
    messages: list[Message] = [{"type": "http.request", "body": body}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


def _require(principal: Principal, body: bytes) -> None:
    """Raise MissingScope if the message asks for what the token does not allow."""
    try:
        message = json.loads(body)
        method, parameters = message["method"], message["params"]
        if method == "tools/call" and (tool := TOOLS.get(parameters["name"])):
            principal.require(tool.scope)
        elif method == "resources/read" and parameters["uri"].startswith(_MEMORY_URIS):
            principal.require(READ)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        pass  # No message: the server says what is wrong with it.


def _answer(status: int, detail: str, headers: dict[str, str]) -> Response:
    return JSONResponse({"detail": detail}, status, {"Cache-Control": "no-store", **headers})

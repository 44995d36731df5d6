"""The body of a request, read within its bounds."""

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from memories.errors import PayloadTooLarge
from memories.limits import MAX_BODY


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """Return the whole body.

    Raises PayloadTooLarge before more than the allowed size is kept, and ClientDisconnect where the
    client is gone before the end: what there is of its body is not what it meant to say.
    """
    declared = Headers(scope=scope).get("content-length", "0")
    if declared.isdigit() and int(declared) > MAX_BODY:
        raise PayloadTooLarge
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            raise PayloadTooLarge
        if not message.get("more_body"):
            return bytes(body)

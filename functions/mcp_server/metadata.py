"""What a client is told before it has a token: whose tokens are taken, and with which scopes."""

from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mcp_server.http import PATH
from memories.config import Settings
from memories.principal import READ, WRITE

_ROOT_PATH = "/.well-known/oauth-protected-resource"
# Where a client looks that goes by the resource's own address.
_RESOURCE_PATH = _ROOT_PATH + PATH


def metadata_routes(settings: Settings) -> list[Route]:
    """Return the routes of the metadata, at the path for the resource and at the root."""
    document = {
        "resource": resource_of(settings),
        "authorization_servers": [settings.issuer],
        "scopes_supported": scopes_of(settings, (READ, WRITE)),
        "bearer_methods_supported": ["header"],
        "resource_name": "memories",
    }

    async def metadata(_: Request) -> Response:
        return JSONResponse(document, headers={"Cache-Control": "max-age=3600"})

    return [Route(path, metadata) for path in (_RESOURCE_PATH, _ROOT_PATH)]


def resource_of(settings: Settings) -> str:
    """Return the address that clients know the server by."""
    return settings.public_url.rstrip("/") + PATH


def metadata_url_of(settings: Settings) -> str:
    """Return the address of the metadata."""
    return settings.public_url.rstrip("/") + _RESOURCE_PATH


def scopes_of(settings: Settings, scopes: Iterable[str]) -> list[str]:
    """Return the scopes as the issuer names them."""
    return [settings.scope_prefix + scope for scope in scopes]

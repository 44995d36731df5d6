"""The remote server: the MCP door for callers on a network, who prove who they are."""

from urllib.parse import urlsplit

import anyio.to_thread
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from mcp_server.auth import Guard, identify
from mcp_server.http import build_app
from mcp_server.keys import IssuerKeys
from mcp_server.metadata import metadata_routes
from mcp_server.server import build_server
from mcp_server.tokens import TokenVerifier
from memories.addresses import is_private
from memories.config import InvalidSetting, Settings
from memories.errors import StoreUnavailable
from memories.service import MemoryService


def build_verifier(settings: Settings) -> TokenVerifier:
    """Return the verifier that the settings describe. Raises InvalidSetting.

    There is no way to go without: an address that only this machine reaches is no reason either,
    for a proxy may stand on it.
    """
    if not settings.issuer:
        raise InvalidSetting(
            "refused to serve without verifying who calls: anyone who reaches this server could "
            "read and change the memories. Set MEMORIES_ISSUER to the issuer of the callers' "
            "tokens. For one person on one machine there is the command: memories serve"
        )
    if not settings.audience and not settings.clients:
        raise InvalidSetting(
            "MEMORIES_AUDIENCE is not set, so tokens made for other services would do. Set it, or "
            "MEMORIES_CLIENTS for an issuer whose tokens have no audience"
        )
    for variable, url in (
        ("MEMORIES_ISSUER", settings.issuer),
        ("MEMORIES_JWKS_URL", settings.jwks_url or settings.issuer),
        ("MEMORIES_PUBLIC_URL", settings.public_url),
    ):
        if not is_private(url):
            raise InvalidSetting(
                f"{variable} is {url!r}; it must be an https address, or http on this machine"
            )
    return TokenVerifier(settings, IssuerKeys(settings.issuer, settings.jwks_url))


def build_remote(service: MemoryService, verifier: TokenVerifier, settings: Settings) -> ASGIApp:
    """Return the application. Its ``/health``, ``/ready`` and metadata are open to all."""

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_: Request) -> Response:
        try:
            await anyio.to_thread.run_sync(service.check)
        except StoreUnavailable:
            return JSONResponse({"status": "not_ready", "checks": {"store": "failed"}}, 503)
        return JSONResponse({"status": "ready", "checks": {"store": "ok"}})

    return build_app(
        build_server(service, identify),
        settings.allowed_hosts or [_host_of(settings.public_url)],
        settings.origins,
        guards=[Middleware(Guard, verifier=verifier, settings=settings)],
        routes=[Route("/health", health), Route("/ready", ready), *metadata_routes(settings)],
    )


def _host_of(url: str) -> str:
    """Return what a client puts into its Host header: in lower case, without a usual port."""
    parts = urlsplit(url)
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else str(parts.hostname)
    return name if parts.port in {None, usual} else f"{name}:{parts.port}"

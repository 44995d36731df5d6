"""``memories serve`` and ``memories mcp``: the doors, opened on this machine."""

import argparse
import dataclasses
from contextlib import suppress
from typing import Any

from local.commands.options import Defaults, Subparsers, add_agent, add_store, added
from local.storage import open_store
from memories.config import Settings


def add(commands: Subparsers, defaults: Defaults) -> None:
    parser = added(commands, "serve", "serve HTTP and MCP on this machine", _serve)
    parser.add_argument(
        "--host",
        default=defaults.settings.host,
        help="loopback address to listen on, also MEMORIES_HOST (now: %(default)s)",
    )
    parser.add_argument(
        "--port",
        type=_port,
        default=defaults.settings.port,
        help="port to listen on, 0 for any free one, also MEMORIES_PORT (now: %(default)s)",
    )
    add_store(parser, defaults)
    parser = added(commands, "mcp", "serve MCP to the host that starts this", _mcp)
    add_agent(parser, defaults)
    add_store(parser, defaults)


# The servers are loaded when they are asked for: they take longer than most commands.


def _serve(settings: Settings, store: str, create_table: bool, **options: Any) -> None:
    from local.server import listen, serve  # noqa: PLC0415

    settings = dataclasses.replace(settings, **options)
    # The socket first: where it is refused, no store is made.
    with (
        _stopping(),
        listen(settings.host, settings.port) as listener,
        open_store(settings, store, create_table) as (opened, where),
    ):
        serve(listener, opened, settings, where, _say)


def _mcp(settings: Settings, store: str, create_table: bool, **options: Any) -> None:
    from local.host import serve_host  # noqa: PLC0415

    settings = dataclasses.replace(settings, **options)
    with _stopping(), open_store(settings, store, create_table) as (opened, _):
        serve_host(settings, opened)


def _stopping() -> suppress:
    """Take the wish to stop for the end that it is to a server."""
    return suppress(KeyboardInterrupt)


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return port


def _say(line: str) -> None:
    print(line, flush=True)

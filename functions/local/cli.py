"""The command line: ``memories serve`` and ``memories mcp``."""

import argparse
import dataclasses
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from local.host import serve_host
from local.server import CannotServe, listen, serve
from local.storage import STORES, UnusableTable, open_store
from memories import __version__
from memories.config import InvalidSetting, Settings
from memories.errors import Unauthenticated
from memories.stores.sqlite.file import UnusableDataFile


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 1 could not, 2 wrongly called."""
    try:
        settings = Settings.from_environment(os.environ)
        options = vars(_parser(settings).parse_args(arguments))
        command = options.pop("command")
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C
        command(settings, **options)
    except _TOLD as error:
        print(f"memories: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass  # It was told to stop, and has stopped.
    return 0


# What a person can put right.
_TOLD = (CannotServe, InvalidSetting, UnusableDataFile, UnusableTable, Unauthenticated)


def _serve(settings: Settings, store: str, create_table: bool, **options: Any) -> None:
    settings = dataclasses.replace(settings, **options)
    # The socket first: where it is refused, no store is made.
    with (
        listen(settings.host, settings.port) as listener,
        open_store(settings, store, create_table) as (opened, where),
    ):
        serve(listener, opened, settings, where, _say)


def _mcp(settings: Settings, store: str, create_table: bool, **options: Any) -> None:
    settings = dataclasses.replace(settings, **options)
    with open_store(settings, store, create_table) as (opened, _):
        serve_host(settings, opened)


def _parser(settings: Settings) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memories", description="A shared memory for AI agents, on one machine."
    )
    parser.add_argument("--version", action="version", version=f"memories {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    _add_serve(commands.add_parser("serve", help="serve HTTP and MCP on this machine"), settings)
    _add_mcp(commands.add_parser("mcp", help="serve MCP to the host that starts this"), settings)
    return parser


def _add_serve(parser: argparse.ArgumentParser, settings: Settings) -> None:
    parser.set_defaults(command=_serve)
    parser.add_argument(
        "--host",
        default=settings.host,
        help="loopback address to listen on, also MEMORIES_HOST (now: %(default)s)",
    )
    parser.add_argument(
        "--port",
        type=_port,
        default=settings.port,
        help="port to listen on, 0 for any free one, also MEMORIES_PORT (now: %(default)s)",
    )
    _add_store(parser, settings)


def _add_mcp(parser: argparse.ArgumentParser, settings: Settings) -> None:
    parser.set_defaults(command=_mcp)
    parser.add_argument(
        "--agent",
        default=settings.agent,
        help="name of the agent that records, also MEMORIES_AGENT (now: %(default)s)",
    )
    _add_store(parser, settings)


def _add_store(parser: argparse.ArgumentParser, settings: Settings) -> None:
    parser.add_argument(
        "--data",
        type=_path,
        default=settings.data,
        help="file that holds the memories, also MEMORIES_DATA (now: %(default)s)",
    )

    parser.add_argument(
        "--store",
        choices=STORES,
        default=str(settings.store),
        help="what keeps the memories, also MEMORIES_STORE; moto is DynamoDB played in this "
        "process, to try it (now: %(default)s)",
    )
    parser.add_argument(
        "--table",
        default=settings.table,
        help="DynamoDB table, also MEMORIES_TABLE (now: %(default)s)",
    )
    parser.add_argument(
        "--endpoint-url",
        default=settings.endpoint_url,
        help="address of a DynamoDB that is not AWS's, also MEMORIES_ENDPOINT_URL",
    )
    parser.add_argument(
        "--create-table", action="store_true", help="make the table if it is missing"
    )


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return port


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())

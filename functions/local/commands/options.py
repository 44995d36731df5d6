"""Options that several commands take, and what they lead to."""

import argparse
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from local.client import Client
from local.direct import DirectClient
from local.identity import principal_for
from local.storage import STORES, open_store
from memories.bootstrap import build_service
from memories.config import Settings

# argparse has private names for these.
Subparsers = Any
Options = Any


class Defaults(NamedTuple):
    """What the environment says. ``store`` may be moto too, which is for one machine alone."""

    settings: Settings
    store: str


def add_store(parser: Options, defaults: Defaults) -> None:
    settings = defaults.settings
    parser.add_argument(
        "--data",
        type=_path,
        default=settings.data,
        help="file that holds the memories, also MEMORIES_DATA (now: %(default)s)",
    )
    parser.add_argument(
        "--store",
        choices=STORES,
        default=defaults.store,
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


def add_agent(parser: Options, defaults: Defaults) -> None:
    parser.add_argument(
        "--agent",
        default=defaults.settings.agent,
        help="name of the agent that acts, also MEMORIES_AGENT (now: %(default)s)",
    )


def add_client(parser: argparse.ArgumentParser, defaults: Defaults) -> None:
    """Add the options that say where the memories are, and the one for programs."""
    parser.add_argument("--json", action="store_true", help="answer in JSON, for programs")
    where = parser.add_argument_group("where the memories are")
    where.add_argument(
        "--url",
        default=defaults.settings.url,
        help="address of a server, in place of a store, also MEMORIES_URL; a token for it is taken "
        "from MEMORIES_TOKEN",
    )
    add_store(where, defaults)
    add_agent(parser, defaults)


@contextmanager
def opened_client(
    settings: Settings, *, store: str, create_table: bool, **options: Any
) -> Iterator[Client]:
    """Yield the client that the options say. Raises CannotDo and what opening a store raises."""
    settings = dataclasses.replace(settings, **options)
    if settings.url:
        # Loaded when it is asked for, as whatever a command may not need.
        from local.remote import HttpClient  # noqa: PLC0415

        with closing(HttpClient(settings.url, settings.token, settings.agent)) as remote:
            yield remote
    else:
        principal = principal_for(settings.agent)
        with open_store(settings, store, create_table) as (opened, _):
            yield DirectClient(build_service(settings, opened), principal)


def add_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("memory_id", type=memory_id, metavar="ID", help="the memory's id")


def memory_id(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not an id")
    return number


def given(options: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Take the named options out, and return those that were given."""
    taken = {name: options.pop(name) for name in names}
    return {name: value for name, value in taken.items() if value is not None}


def added(
    commands: Subparsers, name: str, told: str, command: Callable[..., int | None]
) -> argparse.ArgumentParser:
    """Return a new parser for a command."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=told, description=told)
    parser.set_defaults(command=command)
    return parser


def _path(text: str) -> Path:
    return Path(text).expanduser()

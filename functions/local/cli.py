"""The command line, ``memories``: what it was asked for, and how it ended."""

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence

from local.commands import maintenance, relations, serving, tags, transfer
from local.commands import memories as memory_commands
from local.commands.options import Defaults
from local.storage import MOTO
from local.told import CannotDo, WronglyCalled
from memories import __version__
from memories.config import InvalidSetting, Settings
from memories.errors import Unauthenticated
from memories.stores.sqlite.file import UnusableDataFile

_COMMANDS = (memory_commands, tags, relations, transfer, maintenance, serving)

# What a person can put right.
_TOLD = (CannotDo, InvalidSetting, UnusableDataFile, Unauthenticated)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 1 could not, 2 wrongly called."""
    try:
        return _run(arguments)
    except WronglyCalled as error:
        return _ended(error, 2)
    except _TOLD as error:
        return _ended(error, 1)
    except BrokenPipeError:
        # Who read the output has enough of it. Nothing more is to be written at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return _ended("stopped before the end", 1)


def _run(arguments: Sequence[str] | None) -> int:
    defaults, wrong = _defaults(os.environ)
    options = vars(_parser(defaults).parse_args(arguments))
    if wrong:
        raise wrong
    command = options.pop("command")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C
    code: int | None = command(defaults.settings, **options)
    sys.stdout.flush()
    return code or 0


def _defaults(environment: Mapping[str, str]) -> tuple[Defaults, InvalidSetting | None]:
    """Return what the environment says, and what is wrong with it.

    To ask for help or the version, it may be as wrong as it likes.
    """
    plain = dict(environment)
    is_moto = plain.get("MEMORIES_STORE") == MOTO
    if is_moto:
        del plain["MEMORIES_STORE"]
    try:
        settings, wrong = Settings.from_environment(plain), None
    except InvalidSetting as error:
        settings, wrong = Settings(), error
    return Defaults(settings, MOTO if is_moto else str(settings.store)), wrong


def _parser(defaults: Defaults) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memories", description="A shared memory for AI agents, on one machine and elsewhere."
    )
    parser.add_argument("--version", action="version", version=f"memories {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for module in _COMMANDS:
        module.add(commands, defaults)
    return parser


def _ended(error: object, code: int) -> int:
    print(f"memories: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())

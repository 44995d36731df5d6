"""``memories relations``, ``relate`` and ``unrelate``."""

import argparse
import re
from typing import Any

from local.commands.options import (
    Defaults,
    Subparsers,
    add_client,
    add_id,
    added,
    given,
    memory_id,
    opened_client,
)
from local.tables import page_place, print_json, print_table
from memories.config import Settings
from memories.fields import RELATION_TYPE, RELATION_TYPE_RULE

_QUERY = ("direction", "relation_type", "limit", "offset")


def add(commands: Subparsers, defaults: Defaults) -> None:
    parser = added(commands, "relations", "list what a memory relates to, and what to it", _list)
    add_id(parser)
    parser.add_argument("--direction", choices=("out", "in", "both"))
    parser.add_argument("--type", dest="relation_type", type=_type)
    parser.add_argument("--limit", type=int, help="how many at most, 10 unless it is said")
    parser.add_argument("--offset", type=int, help="how many to pass over")
    add_client(parser, defaults)

    parser = added(commands, "relate", "relate a memory to another", _relate)
    _add_ends(parser)
    parser.add_argument(
        "--strength", type=float, default=1.0, help="from 0 to 1 (now: %(default)s)"
    )
    add_client(parser, defaults)

    parser = added(commands, "unrelate", "remove a relation", _unrelate)
    _add_ends(parser)
    add_client(parser, defaults)


def _add_ends(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("from_id", type=memory_id, metavar="ID", help="the memory that relates")
    parser.add_argument(
        "relation_type",
        type=_type,
        metavar="TYPE",
        help="follows, contradicts, elaborates, supersedes, or a word of your own",
    )
    parser.add_argument("to_id", type=memory_id, metavar="ID", help="the memory it relates to")


def _type(text: str) -> str:
    if not re.fullmatch(RELATION_TYPE, text):
        raise argparse.ArgumentTypeError(f"{text!r} is no type: it {RELATION_TYPE_RULE}")
    return text


def _list(settings: Settings, json: bool, memory_id: int, **options: Any) -> None:
    query = given(options, _QUERY)
    with opened_client(settings, **options) as client:
        page = client.relations(memory_id, query)
    if json:
        print_json(page)
        return
    names = ("from_id", "relation_type", "to_id", "strength", "agent_id")
    rows = [[str(each[name]) for name in names] for each in page["items"]]
    if rows:
        print_table(["from", "type", "to", "strength", "agent"], rows)
    page_place(page)


def _relate(
    settings: Settings,
    *,
    json: bool,
    from_id: int,
    relation_type: str,
    to_id: int,
    strength: float,
    **options: Any,
) -> None:
    with opened_client(settings, **options) as client:
        relation = client.relate(from_id, relation_type, to_id, strength)
    print_json(relation) if json else print(f"memory {from_id} {relation_type} memory {to_id}")


def _unrelate(
    settings: Settings, json: bool, from_id: int, relation_type: str, to_id: int, **options: Any
) -> None:
    with opened_client(settings, **options) as client:
        relation = client.unrelate(from_id, relation_type, to_id)
    print_json(relation) if json else print("removed the relation")

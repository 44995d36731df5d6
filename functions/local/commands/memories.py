"""``memories add``, ``search``, ``show``, ``edit`` and ``retire``."""

import argparse
import sys
from collections.abc import Mapping
from typing import Any, get_args

from local.commands.options import (
    Defaults,
    Subparsers,
    add_client,
    add_id,
    added,
    given,
    opened_client,
)
from local.tables import page_place, print_fields, print_json, print_table, safe
from memories.config import Settings
from memories.fields import EditableStatus, MemoryType, Sort, Status

_EDITABLE = ("content", "tags", "memory_type", "status", "importance", "category", "source")
_GRANTS = ("is_public", "read_only", "shared_with_agents")
_QUERY = ("q", "tag", "memory_type", "status", "sort", "limit", "offset")


def add(commands: Subparsers, defaults: Defaults) -> None:
    parser = added(commands, "add", "record a memory", _add)
    parser.add_argument("content", help="what to remember; - reads it from standard input")
    _add_fields(parser, tags_needed=True)
    parser.add_argument(
        "--private",
        dest="is_public",
        action="store_const",
        const=False,
        help="other agents may not read it",
    )
    parser.add_argument(
        "--read-only", action="store_const", const=True, help="other agents may not change it"
    )
    parser.add_argument(
        "--share-with",
        dest="shared_with_agents",
        action="append",
        metavar="AGENT",
        help="an agent that may read it though it is private; may be repeated",
    )
    add_client(parser, defaults)

    parser = added(commands, "search", "find memories, or list them all", _search)
    parser.add_argument("q", nargs="?", metavar="TEXT", help="text in the content or in a tag")
    parser.add_argument("--tag", help="only with exactly this tag")
    parser.add_argument("--type", dest="memory_type", choices=get_args(MemoryType))
    parser.add_argument("--status", choices=get_args(Status))
    parser.add_argument("--sort", choices=get_args(Sort), help="id unless it is said")
    parser.add_argument("--limit", type=int, help="how many at most, 10 unless it is said")
    parser.add_argument("--offset", type=int, help="how many to pass over")
    parser.add_argument("--full", action="store_true", help="with --json: all fields")
    add_client(parser, defaults)

    parser = added(commands, "show", "show a memory", _show)
    add_id(parser)
    parser.add_argument("--full", action="store_true", help="all fields")
    add_client(parser, defaults)

    parser = added(commands, "edit", "change what is given of a memory", _edit)
    add_id(parser)
    parser.add_argument("--content", help="the new text; - reads it from standard input")
    _add_fields(parser, tags_needed=False)
    _add_expected(parser)
    add_client(parser, defaults)

    parser = added(commands, "retire", "mark a memory as deleted", _retire)
    add_id(parser)
    _add_expected(parser)
    add_client(parser, defaults)


def _add_fields(parser: argparse.ArgumentParser, tags_needed: bool) -> None:
    parser.add_argument(
        "--tag",
        dest="tags",
        action="append",
        required=tags_needed,
        metavar="TAG",
        help="a tag; may be repeated",
    )
    parser.add_argument("--type", dest="memory_type", choices=get_args(MemoryType))
    parser.add_argument("--status", choices=get_args(EditableStatus))
    parser.add_argument("--importance", type=int, help="from 0 to 10")
    parser.add_argument("--category")
    parser.add_argument("--source", help="where it is known from")


def _add_expected(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--expect",
        dest="expected_version",
        type=int,
        metavar="VERSION",
        help="only if it is at this version",
    )


def _add(settings: Settings, json: bool, **options: Any) -> None:
    draft = _with_content(given(options, (*_EDITABLE, *_GRANTS)))
    with opened_client(settings, **options) as client:
        memory = client.record(draft)
    print_json(memory) if json else print(f"recorded memory {memory['id']}")


def _search(settings: Settings, json: bool, full: bool, **options: Any) -> None:
    query = given(options, _QUERY)
    with opened_client(settings, **options) as client:
        page = client.search(query, full)
    if json:
        print_json(page)
        return
    items = page["items"]
    if items:
        print_table(
            ["id", "type", "status", "updated", "tags", "content"], [_row(each) for each in items]
        )
    page_place(page)


def _show(settings: Settings, json: bool, full: bool, memory_id: int, **options: Any) -> None:
    with opened_client(settings, **options) as client:
        memory = client.inspect(memory_id, full)
    print_json(memory) if json else _print_memory(memory)


def _edit(
    settings: Settings, json: bool, memory_id: int, expected_version: int | None, **options: Any
) -> None:
    patch = _with_content(given(options, _EDITABLE))
    with opened_client(settings, **options) as client:
        memory = client.revise(memory_id, patch, expected_version)
    print_json(memory) if json else print(f"memory {memory_id} is at version {memory['version']}")


def _retire(
    settings: Settings, json: bool, memory_id: int, expected_version: int | None, **options: Any
) -> None:
    with opened_client(settings, **options) as client:
        memory = client.retire(memory_id, expected_version)
    print_json(memory) if json else print(f"retired memory {memory_id}")


def _with_content(fields: dict[str, Any]) -> dict[str, Any]:
    if fields.get("content") == "-":
        fields["content"] = sys.stdin.read().removesuffix("\n")
    return fields


def _row(memory: Mapping[str, Any]) -> list[str]:
    return [
        str(memory["id"]),
        memory["memory_type"],
        memory["status"],
        memory["updated_at"][:10],
        ", ".join(memory["tags"]),
        memory["content"],
    ]


def _print_memory(memory: Mapping[str, Any]) -> None:
    fields = dict(memory)
    content = fields.pop("content")
    fields |= fields.pop("permissions", {})
    print_fields({name.replace("_", " "): _said(value) for name, value in fields.items()})
    print(f"\n{safe(content)}")


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)

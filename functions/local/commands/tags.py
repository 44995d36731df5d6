"""``memories tags``: which tags there are, and how often each is used."""

from typing import Any

from local.commands.options import Defaults, Subparsers, add_client, added, given, opened_client
from local.tables import page_place, print_json, print_table
from memories.config import Settings


def add(commands: Subparsers, defaults: Defaults) -> None:
    parser = added(commands, "tags", "list the tags in use, most used first", _list)
    parser.add_argument("--limit", type=int, help="how many at most, 100 unless it is said")
    parser.add_argument("--offset", type=int, help="how many to pass over")
    add_client(parser, defaults)


def _list(settings: Settings, json: bool, **options: Any) -> None:
    query = given(options, ("limit", "offset"))
    with opened_client(settings, **options) as client:
        page = client.tags(query)
    if json:
        print_json(page)
        return
    rows = [[str(each["count"]), each["tag"]] for each in page["items"]]
    if rows:
        print_table(["memories", "tag"], rows)
    page_place(page)

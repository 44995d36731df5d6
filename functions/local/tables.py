"""What the commands print: JSON for programs, plain aligned text for people."""

import json
import shutil
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False))


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns; on a terminal, the last one is cut to what there is room for."""
    lines = [[each.upper() for each in headers], *[[*map(on_a_line, row)] for row in rows]]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    before = sum(widths[:-1]) + 2 * (len(widths) - 1)
    room = max(shutil.get_terminal_size().columns - before, 10)
    for *cells, last in lines:
        padded = [set_cell_size(cell, width) for cell, width in zip(cells, widths, strict=False)]
        print("  ".join([*padded, _cut(last, room) if sys.stdout.isatty() else last]).rstrip())


def print_fields(fields: Mapping[str, str]) -> None:
    """Print names and values, one a line."""
    width = max(map(len, fields))
    for name, value in fields.items():
        print(f"{name:{width}}  {on_a_line(value)}".rstrip())


def page_place(page: Mapping[str, Any]) -> None:
    """Say, beside the output, which part of the matches a page is."""
    shown, total, offset = len(page["items"]), page["total"], page["offset"]
    if not total:
        told = "nothing found"
    elif not shown:
        told = f"nothing after the {total} that were found"
    else:
        more = f"; go on with --offset {offset + shown}" if page["has_more"] else ""
        told = f"{offset + 1} to {offset + shown} of {total}{more}"
    print(told, file=sys.stderr)


def safe(text: str) -> str:
    """Return the text without what could move a terminal's cursor or turn its writing around."""
    return "".join(
        each if each in "\n\t" or _is_plain(each) else "\N{REPLACEMENT CHARACTER}" for each in text
    )


def on_a_line(text: str) -> str:
    """Return the text as one line that is safe to print."""
    return safe(" ".join(text.split()))


def _is_plain(character: str) -> bool:
    turns = unicodedata.bidirectional(character) in {
        "LRE",
        "RLE",
        "LRO",
        "RLO",
        "PDF",
        "LRI",
        "RLI",
        "FSI",
        "PDI",
    }
    return unicodedata.category(character) != "Cc" and not turns


def _cut(text: str, room: int) -> str:
    return text if cell_len(text) <= room else set_cell_size(text, room - 1) + "…"

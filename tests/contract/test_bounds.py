"""What an answer may weigh: a page is cut at whole records, and says so."""

import json
from typing import Any

import pytest

from doors import Door, draft, ids, pages

EMOJI = "\U0001f9e0"
# What Lambda takes of a function, in bytes, with the body as a string in JSON.
MOST = 6_291_556


def fill(door: Door, number: int, content: str, **fields: Any) -> None:
    for _ in range(number // 10):
        # The clients write ASCII, and so a body has no room for more.
        door.record_batch([draft(content, **fields) for _ in range(10)])


def test_a_page_too_large_to_deliver_is_cut_and_the_next_goes_on_where_it_ends(
    door: Door,
) -> None:
    fill(door, 100, EMOJI * 8_000)

    first = door.search(limit=100)

    assert 10 <= len(first["items"]) < 100
    assert (first["total"], first["limit"], first["has_more"]) == (100, 100, True)
    found = [memory_id for page in pages(door, limit=100) for memory_id in ids(page)]
    assert found == list(range(1, 101))


def test_what_was_cut_off_is_not_marked(door: Door) -> None:
    fill(door, 60, EMOJI * 8_000)

    returned = ids(door.search(limit=100))

    assert returned == list(range(1, len(returned) + 1))
    assert len(returned) < 60
    assert door.inspect(60, full=True)["access_count"] == 1
    assert door.inspect(1, full=True)["access_count"] == 2


@pytest.mark.parametrize(
    "content", ["x" * 8_000, "太" * 8_000, "x"], ids=["latin", "wide", "short"]
)
def test_a_page_that_can_be_delivered_is_whole(door: Door, content: str) -> None:
    fill(door, 100, content)

    page = door.search(limit=100)

    assert (len(page["items"]), page["has_more"]) == (100, False)


def test_full_records_with_a_hundred_names_are_cut_too(door: Door) -> None:
    names = [f"{number:03}{EMOJI * 253}" for number in range(100)]
    fields = {
        "category": EMOJI * 64,
        "source": EMOJI * 256,
        "tags": [EMOJI * 63 + str(n) for n in range(9)],
    }
    for _ in range(20):
        door.record(content=EMOJI * 8_000, shared_with_agents=names, is_public=False, **fields)

    short = door.search(limit=20)
    full = door.search(limit=20, full=True)

    assert len(full["items"]) < len(short["items"])
    assert full["has_more"] is True
    assert len(json.dumps(full)) < MOST

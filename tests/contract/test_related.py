"""What is around a memory, as the tool that follows relations tells it."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from mcp.client.client import ConnectMode

from clock import Clock
from doors import Refused, draft
from mcp_door import McpDoor

McpOf = Callable[[str], McpDoor]
Related = dict[str, Any]


@pytest.fixture
def mcp_of(url: str, mcp_door_of: Callable[[ConnectMode, str], McpDoor]) -> McpOf:
    return partial(mcp_door_of, "2026-07-28")


@pytest.fixture
def mcp(mcp_of: McpOf) -> McpDoor:
    return mcp_of("local")


def around(mcp: McpDoor, memory_id: int, **query: Any) -> Related:
    return mcp.call("get_related_memories", {"memory_id": memory_id, **query})


def found(related: Related) -> list[tuple[int, int]]:
    return [(item["depth"], item["memory"]["id"]) for item in related["items"]]


def led(item: dict[str, Any]) -> list[tuple[int, int]]:
    return [(each["from_id"], each["to_id"]) for each in item["relations"]]


def chain(mcp: McpDoor, *ids: int, kind: str = "follows") -> None:
    for one, other in pairwise(ids):
        mcp.relate(one, kind, other)


def test_memories_come_nearest_first_and_each_once(mcp: McpDoor, clock: Clock) -> None:
    memories = mcp.record_batch([draft(f"Memory {n}") for n in range(1, 8)])
    chain(mcp, 1, 2, 3, 4, 5)
    chain(mcp, 1, 6, 3)
    mcp.relate(2, "elaborates", 1)
    clock.advance()

    assert found(around(mcp, 1)) == [(1, 2), (1, 6)]
    related = around(mcp, 1, depth=3)

    assert found(related) == [(1, 2), (1, 6), (2, 3), (3, 4)]
    assert related["has_more"] is False
    assert [led(item) for item in related["items"]] == [
        [(1, 2), (2, 1)],
        [(1, 6)],
        [(2, 3), (6, 3)],
        [(3, 4)],
    ]
    assert related["items"][0]["memory"] == memories[1] | {"last_accessed_at": clock.now}


def test_a_circle_ends(mcp: McpDoor) -> None:
    mcp.record_batch([draft() for _ in range(3)])
    chain(mcp, 1, 2, 3, 1)
    chain(mcp, 2, 1)

    for depth in (2, 3):
        assert found(around(mcp, 1, depth=depth)) == [(1, 2), (1, 3)]
        assert found(around(mcp, 1, depth=depth, direction="out")) == [(1, 2), (2, 3)]
        assert found(around(mcp, 1, depth=depth, direction="in")) == [(1, 2), (1, 3)]


def test_only_one_type_is_followed_where_it_is_named(mcp: McpDoor) -> None:
    mcp.record_batch([draft() for _ in range(4)])
    chain(mcp, 1, 2, 3, kind="supersedes")
    chain(mcp, 2, 4)

    assert found(around(mcp, 1, depth=3, relation_type="supersedes")) == [(1, 2), (2, 3)]
    assert found(around(mcp, 1, depth=3, relation_type="follows")) == []


@pytest.mark.parametrize("limit", [1, 3, 4, 5, 9])
def test_as_many_come_as_were_asked_for_and_only_these_are_marked(
    mcp: McpDoor, clock: Clock, limit: int
) -> None:
    mcp.record_batch([draft() for _ in range(6)])
    chain(mcp, 1, 2, 3)
    chain(mcp, 1, 4, 5)
    chain(mcp, 1, 6)
    clock.advance()

    related = around(mcp, 1, depth=2, limit=limit)

    every = [(1, 2), (1, 4), (1, 6), (2, 3), (2, 5)]
    assert found(related) == every[:limit]
    assert related["has_more"] is (limit < len(every))
    marked = {
        memory_id
        for memory_id in range(1, 7)
        if mcp.revise(memory_id)["last_accessed_at"] is not None
    }
    assert marked == {memory_id for _, memory_id in every[:limit]}


def test_the_way_through_what_is_hidden_or_deleted_is_closed(mcp_of: McpOf) -> None:
    maker, other = mcp_of("maker"), mcp_of("other")
    maker.record_batch([draft() for _ in range(5)])
    chain(maker, 1, 2, 3)
    chain(maker, 1, 4, 5)
    maker.share(2, is_public=False)

    assert found(around(other, 1, depth=3)) == [(1, 4), (2, 5)]
    assert found(around(maker, 1, depth=3)) == [(1, 2), (1, 4), (2, 3), (2, 5)]
    maker.retire(4)
    assert found(around(maker, 1, depth=3)) == [(1, 2), (2, 3)]
    assert found(around(other, 1, depth=3)) == []
    for gone in (2, 4, 99):
        with pytest.raises(Refused, match=f"Memory {gone} not found"):
            around(other, gone)


@pytest.mark.parametrize(
    ("query", "where"),
    [({"depth": 0}, "depth"), ({"depth": 4}, "depth"), ({"direction": "up"}, "direction")],
)
def test_a_wrong_question_is_refused(mcp: McpDoor, query: dict[str, Any], where: str) -> None:
    mcp.record(**draft())
    with pytest.raises(Refused) as refused:
        around(mcp, 1, **query)
    assert (refused.value.kind, refused.value.where) == ("invalid", [where])


def test_more_than_an_answer_holds_comes_in_part(mcp: McpDoor, clock: Clock) -> None:
    text = "\U0001f9e0" * 8_000
    for start in range(0, 100, 25):
        mcp.record_batch([draft(text if n else "Hub") for n in range(start, start + 25)])
    for other in range(2, 101):
        mcp.relate(1, "follows", other)
    clock.advance()

    related = around(mcp, 1, limit=100)

    number = len(related["items"])
    assert 30 < number < 99
    assert related["has_more"] is True
    assert mcp.revise(number + 1)["last_accessed_at"] == clock.now
    assert mcp.revise(number + 2)["last_accessed_at"] is None

"""Which tags there are, how often, and for whom."""

from collections.abc import Callable
from typing import Any

import pytest

from clock import Clock
from doors import Door, Page, Refused, draft
from http_api.app import build_handler
from http_client import EventClient, HttpClient
from memories.config import Settings
from memories.service import MemoryService
from memories.stores.port import Store

DoorOf = Callable[[str], Door]


def counts(page: Page) -> dict[str, int]:
    return {each["tag"]: each["count"] for each in page["items"]}


def test_tags_are_counted_and_the_most_used_come_first(door: Door) -> None:
    door.record_batch(
        [
            draft(tags=["tea", "Tea"]),
            draft(tags=["tea", "a,b"]),
            draft(tags=["\U0001f375", "\uff54", "drink", "tea"], status="invalid"),
        ]
    )

    page = door.tags()

    assert [(each["tag"], each["count"]) for each in page["items"]] == [
        ("tea", 3),
        *((tag, 1) for tag in ["Tea", "a,b", "drink", "\uff54", "\U0001f375"]),
    ]
    assert (page["total"], page["limit"], page["offset"], page["has_more"]) == (6, 100, 0, False)
    assert page["standard"] == []


def test_tags_come_in_pages(door: Door) -> None:
    door.record_batch([draft(tags=[f"tag {n:02}" for n in range(start, 20)]) for start in range(3)])
    every = door.tags()["items"]

    pages = [door.tags(limit=8, offset=offset) for offset in (0, 8, 16, 24)]

    assert [each for page in pages for each in page["items"]] == every
    assert [len(page["items"]) for page in pages] == [8, 8, 4, 0]
    assert [page["has_more"] for page in pages] == [True, True, False, False]
    assert {page["total"] for page in pages} == {20}
    assert door.tags(limit=5_000)["limit"] == 100


def test_a_tag_counts_while_a_memory_has_it(door: Door) -> None:
    door.record_batch([draft(tags=["a", "b"]), draft(tags=["b"]), draft(tags=["c"])])
    door.revise(1, tags=["c"])
    door.retire(2)

    assert counts(door.tags()) == {"c": 2}
    assert door.tags()["total"] == 1


def test_tags_are_those_of_what_the_agent_may_read(door_of: DoorOf) -> None:
    maker, listed, other = door_of("maker"), door_of("listed"), door_of("other")
    shared: dict[str, Any] = {"is_public": False, "shared_with_agents": ["listed"]}
    maker.record_batch(
        [
            draft(tags=["all", "public"]),
            draft(tags=["all", "shared"], **shared),
            draft(tags=["all", "shared"], status="invalid", **shared),
            draft(tags=["all", "private"], is_public=False),
            draft(tags=["all", "public"], shared_with_agents=["listed"]),
        ]
    )
    maker.record(**draft(tags=["all", "retired"], **shared))
    maker.retire(6)

    assert counts(maker.tags()) == {"all": 5, "public": 2, "shared": 2, "private": 1}
    assert counts(listed.tags()) == {"all": 4, "public": 2, "shared": 2}
    assert counts(other.tags()) == {"all": 2, "public": 2}
    assert [door.tags()["total"] for door in (maker, listed, other)] == [4, 3, 2]

    maker.share(1, is_public=False)
    assert counts(other.tags()) == {"all": 1, "public": 1}


def test_listing_tags_marks_nothing_as_accessed(door: Door, clock: Clock) -> None:
    before = door.record(**draft())
    clock.advance()
    door.tags()

    assert door.revise(1) == before


@pytest.mark.parametrize(
    ("query", "where"), [({"limit": 0}, "limit"), ({"offset": -1}, "offset"), ({"q": "a"}, "q")]
)
def test_a_wrong_question_is_refused(door: Door, query: dict[str, Any], where: str) -> None:
    with pytest.raises(Refused) as refused:
        door.tags(**query)
    assert (refused.value.kind, refused.value.where) == ("invalid", [where])


def test_the_standard_ones_are_those_of_the_setting(store: Store, http: HttpClient) -> None:
    settings = Settings.from_environment({"MEMORIES_STANDARD_TAGS": "work, home\tfood,,"})
    service = MemoryService(store, standard_tags=settings.standard_tags)
    client = EventClient(build_handler(service, settings))

    assert client.send("GET", "/tags").body["standard"] == ["work", "home", "food"]
    assert http.send("GET", "/tags").body["standard"] == []
    assert "personal" in Settings.from_environment({}).standard_tags

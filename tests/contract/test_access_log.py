"""Contract section 5: who used a memory, when and how."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from clock import Clock
from doors import HttpDoor, Page, Refused, draft
from dynamodb.table_changes import Changes, stream_handler
from http_api.app import Handler
from http_client import EventClient, claims_of
from memories.stores.port import Store
from memories.stores.port_log import LOG_DAYS

Agent = Callable[[str], HttpDoor]
Settle = Callable[[], None]
DAY = timedelta(days=1).total_seconds()


@pytest.fixture
def agent(handler: Handler) -> Agent:
    return lambda name: HttpDoor(EventClient(handler, claims_of("local", name)))


@pytest.fixture
def door(agent: Agent) -> HttpDoor:
    return agent("local")


@pytest.fixture
def settle(request: pytest.FixtureRequest, store: Store) -> Iterator[Settle]:
    """Have the log written, where that is not done by the access itself."""
    if request.node.callspec.params["store"] == "sqlite":
        yield lambda: None
        return
    client, table = request.getfixturevalue("dynamodb_client"), request.getfixturevalue("table")
    changes, stream = Changes(client, table), stream_handler(client, table)

    def settle() -> None:
        event = changes.event()
        # Lambda invokes for something, or not at all.
        assert not event["Records"] or stream(event, None) == {"batchItemFailures": []}

    yield settle


def log(door: HttpDoor, memory_id: int, **query: Any) -> Page:
    answer = door.client.send("GET", f"/memories/{memory_id}/access-log?{urlencode(query)}")
    if answer.status != 200:
        raise Refused(str(answer.status), str(answer.body["detail"]))
    page: Page = answer.body
    return page


def relate(door: HttpDoor, target: str, **fields: Any) -> None:
    assert door.client.send("PUT", target, fields).status in {200, 201}


@pytest.mark.onward
def test_reads_and_updates_are_logged_newest_first_with_their_agents(
    agent: Agent, clock: Clock, settle: Settle
) -> None:
    agent("a").record(**draft())
    read = clock.advance()
    agent("b").inspect(1)
    updated = clock.advance()
    agent("c").revise(1, content="Likes coffee")
    listed = clock.advance()
    agent("d").search(q="coffee")
    settle()

    assert log(agent("a"), 1) == {
        "items": [
            {"accessed_at": listed, "access_type": "read", "agent_id": "d"},
            {"accessed_at": updated, "access_type": "update", "agent_id": "c"},
            {"accessed_at": read, "access_type": "read", "agent_id": "b"},
        ],
        "total": 3,
        "limit": 10,
        "offset": 0,
        "has_more": False,
    }


@pytest.mark.onward
def test_a_relation_refers_to_the_memory_that_it_leads_to(
    agent: Agent, clock: Clock, settle: Settle
) -> None:
    agent("a").record_batch([draft("old"), draft("new")])
    related = clock.advance()
    relate(agent("b"), "/memories/2/relations/elaborates/1")
    superseded = clock.advance()
    relate(agent("c"), "/memories/2/relations/supersedes/1", invalidate=True)
    settle()

    accesses = log(agent("a"), 1)["items"]
    assert [(each["accessed_at"], each["agent_id"]) for each in accesses] == [
        (superseded, "c"),
        (superseded, "c"),
        (related, "b"),
    ]
    assert sorted(each["access_type"] for each in accesses[:2]) == ["reference", "update"]
    assert accesses[2]["access_type"] == "reference"
    assert log(agent("a"), 2)["total"] == 0


@pytest.mark.onward
def test_a_relation_that_is_set_anew_refers_again_by_who_sets_it(
    agent: Agent, clock: Clock, settle: Settle
) -> None:
    agent("a").record_batch([draft("old"), draft("new")])
    relate(agent("a"), "/memories/2/relations/follows/1")
    clock.advance()
    relate(agent("b"), "/memories/2/relations/follows/1", strength=0.5)
    clock.advance()
    assert agent("c").client.send("DELETE", "/memories/2/relations/follows/1").status == 200
    settle()

    assert [each["agent_id"] for each in log(agent("a"), 1)["items"]] == ["b", "a"]


def test_what_is_no_access_is_not_logged(door: HttpDoor, clock: Clock, settle: Settle) -> None:
    door.record_batch([draft("a"), draft("b")])
    clock.advance()
    door.share(1, read_only=True)
    door.revise(1, content="a")
    door.search(q="b")
    door.search(q="b", offset=1)
    settle()
    log(door, 1)
    settle()

    assert log(door, 1)["items"] == []
    assert log(door, 2)["total"] == 1


def test_two_reads_at_one_moment_are_two(agent: Agent, settle: Settle) -> None:
    agent("a").record(**draft())
    agent("a").inspect(1)
    agent("b").inspect(1)
    settle()

    assert {each["agent_id"] for each in log(agent("a"), 1)["items"]} == {"a", "b"}


@pytest.mark.onward
def test_the_pages_of_a_log_are_all_of_it_without_a_repeat(
    door: HttpDoor, clock: Clock, settle: Settle
) -> None:
    door.record(**draft())
    times = []
    for _ in range(7):
        times.append(clock.advance())
        door.inspect(1)
    settle()

    pages = [log(door, 1, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [page["has_more"] for page in pages] == [True, True, False, False]
    assert all(page["total"] == 7 for page in pages)
    found = [each["accessed_at"] for page in pages for each in page["items"]]
    assert found == times[::-1]
    assert log(door, 1, limit=1_000)["limit"] == 100


@pytest.mark.parametrize("query", ["limit=0", "offset=-1", "limit=x", "colour=red", "limit="])
def test_a_page_that_there_is_not_is_refused(door: HttpDoor, settle: Settle, query: str) -> None:
    door.record(**draft())

    assert door.client.send("GET", f"/memories/1/access-log?{query}").status == 422


def test_the_log_is_for_those_who_may_read_the_memory(agent: Agent, settle: Settle) -> None:
    maker, friend, stranger = agent("maker"), agent("friend"), agent("stranger")
    maker.record(**draft(is_public=False, shared_with_agents=["friend"]))
    maker.record(**draft())
    maker.retire(2)
    maker.inspect(1)
    settle()

    assert log(maker, 1) == log(friend, 1)
    refusals = []
    for door, memory_id in ((stranger, 1), (maker, 2), (maker, 3)):
        with pytest.raises(Refused) as refused:
            log(door, memory_id)
        refusals.append(refused.value.args)
    assert set(refusals) == {("404: Memory not found",)}


def test_users_have_logs_of_their_own(handler: Handler, settle: Settle) -> None:
    names = ("a", "a#1", "a#", "Zoë/#%")
    doors = {name: HttpDoor(EventClient(handler, claims_of(name, "agent"))) for name in names}
    for reads, door in enumerate(doors.values()):
        door.record(**draft())
        for _ in range(reads):
            door.inspect(1)
    settle()

    assert [log(door, 1)["total"] for door in doors.values()] == [0, 1, 2, 3]


def test_an_access_is_forgotten_when_its_days_are_over(
    door: HttpDoor, clock: Clock, settle: Settle
) -> None:
    door.record(**draft())
    door.inspect(1)
    clock.advance(DAY)
    second = clock.now
    door.inspect(1)
    settle()

    clock.advance((LOG_DAYS - 1) * DAY - 1)
    assert log(door, 1)["total"] == 2
    clock.advance(1)
    assert [each["accessed_at"] for each in log(door, 1)["items"]] == [second]
    clock.advance(DAY)
    assert log(door, 1)["items"] == []

"""Fair use: what a user, and each of their agents, may ask for in a minute."""

from collections.abc import Callable
from functools import partial

import pytest

from clock import Clock
from doors import Door, Refused, draft
from http_api.app import build_handler
from http_client import EventClient, claims_of
from memories.config import Settings
from memories.service import MemoryService
from memories.stores.port import Store
from memories.stores.port_usage import Limits

USER, AGENT = 5, 3


@pytest.fixture
def service(store: Store, clock: Clock) -> MemoryService:
    return MemoryService(store, clock, limits=Limits(user=USER, agent=AGENT))


def refused(request: Callable[[], object]) -> str:
    """Make a request that is one too many, and return what it is told."""
    with pytest.raises(Refused) as error:
        request()
    assert error.value.kind == "too many"
    return error.value.text


def test_an_agent_that_writes_too_much_is_told_when_to_try_again(door: Door, clock: Clock) -> None:
    clock.advance(12.5)
    for _ in range(AGENT):
        memory_id = door.record(**draft())["id"]

    for write in (
        lambda: door.record(**draft()),
        lambda: door.record_batch([draft()]),
        lambda: door.revise(memory_id, content="New"),
        lambda: door.retire(memory_id),
    ):
        assert refused(write) == (
            "Too many requests: this agent may make 3 in 60 s; try again in 48 s"
        )
    # Reads are counted apart.
    assert door.search()["total"] == AGENT
    clock.advance(47.4)
    refused(lambda: door.record(**draft()))
    clock.advance(0.1)
    door.record(**draft())


def test_an_agent_that_reads_too_much_is_told_when_to_try_again(door: Door, clock: Clock) -> None:
    memory_id = door.record(**draft())["id"]
    door.search()
    for _ in range(AGENT - 1):
        door.inspect(memory_id)

    for read in (lambda: door.inspect(memory_id), door.search):
        assert "this agent may make 3 in 60 s" in refused(read)
    door.record(**draft())
    clock.advance(60)
    assert door.inspect(memory_id)["last_accessed_at"] == clock.now


def test_agents_share_what_their_user_may_ask_for_and_the_refused_take_nothing_of_it(
    door_of: Callable[[str], Door],
) -> None:
    one, two, three = door_of("one"), door_of("two"), door_of("three")
    for _ in range(AGENT):
        one.record(**draft())
    for _ in range(10):
        assert "this agent" in refused(lambda: one.record(**draft()))
    for _ in range(USER - AGENT):
        two.record(**draft())

    for other in (two, three):
        assert "this user may make 5 in 60 s" in refused(partial(other.record, **draft()))


def test_users_do_not_share(service: MemoryService) -> None:
    handler = build_handler(service, Settings())
    greedy, other = (EventClient(handler, claims_of(user)) for user in ("greedy", "other"))
    statuses = [greedy.send("POST", "/memories", draft()).status for _ in range(AGENT + 1)]

    assert statuses == [201] * AGENT + [429]
    assert other.send("POST", "/memories", draft()).status == 201
    assert [other.send("GET", "/health").status for _ in range(USER + 1)] == [200] * (USER + 1)


def test_over_http_the_limit_is_told_in_headers(service: MemoryService, clock: Clock) -> None:
    client = EventClient(build_handler(service, Settings()))
    clock.advance(12.5)
    for _ in range(AGENT):
        client.send("POST", "/memories", draft())
    answer = client.send("POST", "/memories", draft())

    assert answer.status == 429
    assert isinstance(answer.body["detail"], str)
    assert answer.headers["retry-after"] == "48"
    assert answer.headers["ratelimit-policy"] == '"agent";q=3;w=60'
    assert answer.headers["ratelimit"] == '"agent";r=0;t=48'


@pytest.mark.parametrize(
    ("limits", "party"), [(Limits(user=2), "user"), (Limits(agent=2), "agent")]
)
def test_one_limit_alone(store: Store, clock: Clock, limits: Limits, party: str) -> None:
    client = EventClient(build_handler(MemoryService(store, clock, limits=limits), Settings()))
    for method in ("POST", "GET"):
        answers = [
            client.send(method, "/memories", draft() if method == "POST" else None)
            for _ in range(3)
        ]
        assert [answer.status for answer in answers][2] == 429
        assert f"this {party}" in answers[2].body["detail"]


def test_without_limits_nothing_is_counted(store: Store, clock: Clock) -> None:
    client = EventClient(build_handler(MemoryService(store, clock), Settings()))
    assert {client.send("POST", "/memories", draft()).status for _ in range(20)} == {201}

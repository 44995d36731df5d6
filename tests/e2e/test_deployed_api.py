"""The contract's routes through a deployed API: gateway, authorizer, function and table."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from openapi_spec_validator import validate

from doors import HttpDoor, Refused, draft, ids, pages
from e2e.deployment import Stack
from e2e.emulator import eventually
from issuer import Issuer
from memories.principal import READ, WRITE

pytestmark = pytest.mark.e2e

FIELDS = [
    "id",
    "content",
    "tags",
    "created_at",
    "updated_at",
    "last_accessed_at",
    "memory_type",
    "status",
    "version",
]


def test_a_memory_lives_from_record_to_retirement(door: HttpDoor) -> None:
    recorded = door.record(**draft("Prefers tea ☕", memory_type="preference"))
    assert list(recorded) == FIELDS
    memory_id = recorded["id"]
    assert (recorded["version"], recorded["last_accessed_at"]) == (1, None)

    read = door.inspect(memory_id)
    assert read["last_accessed_at"] is not None
    assert read | {"last_accessed_at": None} == recorded

    revised = door.revise(memory_id, content="Prefers coffee", expected_version=1)
    assert (revised["content"], revised["version"]) == ("Prefers coffee", 2)
    with pytest.raises(Refused) as stale:
        door.revise(memory_id, content="Prefers water", expected_version=1)
    assert stale.value.kind == "stale"
    assert stale.value.current == revised

    assert door.revise(memory_id, content="Prefers coffee")["version"] == 2

    assert door.retire(memory_id)["status"] == "deleted"
    with pytest.raises(Refused) as gone:
        door.inspect(memory_id)
    assert (gone.value.kind, gone.value.text) == ("not found", "Memory not found")
    with pytest.raises(Refused):
        door.retire(memory_id)


def test_answers_carry_their_headers(stack: Stack, issuer: Issuer, user: str) -> None:
    caller = stack.caller(issuer.token(user, "agent-1"))
    recorded = caller.send("POST", "/memories", draft(), x_request_id="mine-1")
    assert recorded.status == 201
    assert recorded.headers["location"] == f"/memories/{recorded.body['id']}"
    assert recorded.headers["etag"] == '"1"'
    assert recorded.headers["x-request-id"] == "mine-1"
    assert recorded.headers["cache-control"] == "no-store"


def test_a_repeat_with_its_key_stores_nothing(door: HttpDoor) -> None:
    first = door.record(**draft(), idempotency_key="k")
    assert not door.replayed
    assert door.record(**draft(), idempotency_key="k") == first
    assert door.replayed
    with pytest.raises(Refused) as reused:
        door.record(**draft("Another"), idempotency_key="k")
    assert reused.value.kind == "invalid"
    assert door.search()["total"] == 1


def test_a_batch_is_stored_whole_or_not_at_all(door: HttpDoor) -> None:
    stored = door.record_batch([draft(f"Fact {number}") for number in range(25)])
    assert [memory["content"] for memory in stored] == [f"Fact {number}" for number in range(25)]
    with pytest.raises(Refused) as refused:
        door.record_batch([draft(), draft(""), draft()])
    assert refused.value.where == ["1.content"]
    assert door.search()["total"] == 25


def test_every_order_pages_through_every_match_once(door: HttpDoor) -> None:
    door.record_batch([draft(f"Fact {number}") for number in range(12)])
    door.revise(5, content="Fact five")
    door.inspect(7)
    first = {
        sort: ids(door.search(sort=sort, limit=1)) for sort in ("id", "created_at", "updated_at")
    }
    assert first == {"id": [1], "created_at": [12], "updated_at": [5]}
    for sort in ("id", "created_at", "updated_at"):
        found = [each for page in pages(door, sort=sort, limit=5) for each in ids(page)]
        assert sorted(found) == list(range(1, 13))


def test_the_last_read_comes_first_and_the_never_read_last(door: HttpDoor) -> None:
    door.record_batch([draft(f"Fact {number}") for number in range(4)])
    door.inspect(2)
    door.inspect(3)
    assert ids(door.search(sort="last_accessed_at")) == [3, 2, 4, 1]


def test_filters_find_what_they_name(door: HttpDoor) -> None:
    door.record(content="Lives in Zürich", tags=["home", "a,b"], memory_type="identity")
    door.record(content="100% sure_thing", tags=["odd"], status="invalid")
    door.record(content="Went sailing", tags=["home"], memory_type="event")
    door.retire(3)
    assert ids(door.search()) == [1, 2]
    assert ids(door.search(q="ZÜRICH")) == [1]
    assert ids(door.search(q="%")) == [2]
    assert ids(door.search(tag="a,b")) == [1]
    assert ids(door.search(status="deleted")) == [3]
    assert ids(door.search(memory_type="identity", status="active", tag="home")) == [1]
    assert door.search(q="nowhere")["total"] == 0


def test_what_is_wrong_is_said_and_nothing_is_done(stack: Stack, issuer: Issuer, user: str) -> None:
    caller = stack.caller(issuer.token(user, "agent-1"))
    assert caller.send("POST", "/memories", draft(colour="red")).status == 422
    assert caller.send("GET", "/memories?colour=red").status == 422
    assert caller.send("GET", "/memories/abc").status == 422
    assert caller.request("POST", "/memories", "{}", {"content-type": "text/plain"}).status == 415
    assert caller.send("PUT", "/memories", {}).status == 405
    assert caller.send("GET", "/nowhere").body == {"detail": "Not Found"}
    assert caller.send("GET", "/memories").body["total"] == 0


def test_creates_at_once_get_ids_of_their_own(door: HttpDoor) -> None:
    with ThreadPoolExecutor(3) as agents:
        memories = list(agents.map(lambda number: door.record(**draft(f"{number}")), range(12)))
    assert sorted(memory["id"] for memory in memories) == list(range(1, 13))


def test_users_never_meet(door: HttpDoor, other_user: HttpDoor) -> None:
    door.record_batch([draft("Mine"), draft("Mine too")])
    theirs = other_user.record(**draft("Theirs"))
    assert other_user.search()["items"][0]["content"] == theirs["content"]
    assert other_user.search()["total"] == 1
    assert other_user.search(q="mine")["total"] == 0
    for method, body in (("GET", None), ("PATCH", {"content": "Taken"}), ("DELETE", None)):
        assert other_user.client.send(method, "/memories/2", body).status == 404
    assert [memory["content"] for memory in door.search()["items"]] == ["Mine", "Mine too"]


def test_agents_of_one_user_share_what_they_know(door: HttpDoor, other_agent: HttpDoor) -> None:
    memory = door.record(**draft("Allergic to nuts"))
    assert other_agent.search(q="nuts")["items"][0]["id"] == memory["id"]
    assert other_agent.revise(memory["id"], content="Allergic to peanuts")["version"] == 2
    assert door.inspect(memory["id"])["content"] == "Allergic to peanuts"


def test_health_is_open_and_the_rest_is_not(stack: Stack, issuer: Issuer) -> None:
    nobody = stack.caller()
    assert nobody.send("GET", "/health").body == {"status": "ok"}
    for target in ("/memories", "/memories/1", "/ready", "/docs", "/openapi.json", "/nowhere"):
        assert nobody.send("GET", target).status == 401, target
    someone = stack.caller(issuer.token("anyone", "agent-1"))
    assert someone.send("GET", "/ready").body == {"status": "ready", "checks": {"store": "ok"}}
    validate(someone.send("GET", "/openapi.json").body)
    assert "swagger" in someone.send("GET", "/docs").text


def test_a_scope_that_is_missing_is_named(stack: Stack, issuer: Issuer, user: str) -> None:
    reader = stack.caller(issuer.token(user, "agent-1", READ))
    refused = reader.send("POST", "/memories", draft())
    assert (refused.status, refused.body) == (403, {"detail": f"This needs the scope {WRITE}"})
    assert reader.send("GET", "/memories").body["total"] == 0

    writer = stack.caller(issuer.token(user, "agent-1", WRITE))
    assert writer.send("POST", "/memories", draft()).status == 201
    assert writer.send("GET", "/memories").status == 403

    assert stack.caller(issuer.token(user, "agent-1", "")).send("GET", "/memories").status == 403


def test_each_request_is_logged_without_what_it_holds(
    stack: Stack, issuer: Issuer, user: str
) -> None:
    secret = "the-treasure-is-under-the-oak"
    token = issuer.token(user, "agent-1")
    caller = stack.caller(token)
    caller.send("POST", "/memories", draft(secret), x_request_id="logged-1")
    caller.send("GET", f"/memories?q={secret}", x_request_id="logged-2")
    caller.send("GET", f"/memories/{secret}", x_request_id="logged-3")

    lines = {
        number: eventually(
            lambda number=number: next(  # type: ignore[misc]
                (each for each in stack.json_lines() if each.get("request_id") == number), None
            ),
            seconds=10,
        )
        for number in ("logged-1", "logged-2", "logged-3")
    }
    assert [(line["route"], line["status"]) for line in lines.values()] == [
        ("POST /memories", 201),
        ("GET /memories", 200),
        ("GET /memories/<memory_id>", 422),
    ]
    for line in lines.values():
        assert line["message"] == "request"
        assert line["function_request_id"]
        assert line["latency_ms"] >= line["store_ms"] >= 0

    metrics = [line for line in stack.json_lines() if "_aws" in line]
    assert {"Creates", "StoreLatency"} <= metrics[-1].keys() | metrics[-2].keys()
    assert all(metric["service"] == stack.physical_id("HttpFunction") for metric in metrics)

    everything = "\n".join(stack.log_lines())
    assert secret not in everything
    assert token not in everything
    assert user not in everything


def test_times_are_in_utc_and_in_order(door: HttpDoor) -> None:
    recorded = [door.record(**draft(f"Fact {number}")) for number in range(3)]
    assert all(memory["created_at"].endswith("Z") for memory in recorded)
    assert all(a["created_at"] < b["created_at"] for a, b in pairwise(recorded))

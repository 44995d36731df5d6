"""Contract section 5: how memories relate, and who may say so and see it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from clock import Clock
from doors import Door, Fields, HttpDoor, Refused, draft
from http_client import HttpClient

DoorOf = Callable[[str], Door]

MAKER, OTHER = "maker", "other"


def edges(relations: list[Fields]) -> list[tuple[int, str, int]]:
    return [(each["from_id"], each["relation_type"], each["to_id"]) for each in relations]


def told(use: Callable[[], Any]) -> tuple[str, str]:
    """Return the kind of a refusal, and its text."""
    with pytest.raises(Refused) as refused:
        use()
    return refused.value.kind, refused.value.text


def test_a_relation_is_shown_from_both_of_its_ends(door: Door, clock: Clock) -> None:
    door.record_batch([draft(), draft()])

    related = door.relate(1, "elaborates", 2, strength=0.25)

    assert related == {
        "from_id": 1,
        "relation_type": "elaborates",
        "to_id": 2,
        "strength": 0.25,
        "created_at": clock.now,
        "agent_id": "local",
    }
    assert door.relations(1) == door.relations(2) == [related]
    assert door.relations(1, direction="out") == door.relations(2, direction="in") == [related]
    assert door.relations(1, direction="in") == door.relations(2, direction="out") == []
    assert door.relations(1, relation_type="elaborates") == [related]
    assert door.relations(1, relation_type="elaborate") == []


def test_the_same_relation_again_sets_its_strength_and_nothing_else(
    door: Door, clock: Clock
) -> None:
    door.record_batch([draft(), draft()])
    first = door.relate(1, "follows", 2)
    assert first["strength"] == 1.0

    clock.advance()
    again = door.relate(1, "follows", 2, strength=0.12345)

    assert again == first | {"strength": 0.1235}
    assert door.relations(1) == door.relations(2) == [again]
    assert door.relate(1, "follows", 2) == first


def test_types_and_directions_are_apart(door: Door) -> None:
    door.record_batch([draft(), draft()])
    for edge in [(1, "follows", 2), (2, "follows", 1), (1, "follows_up", 2), (1, "f", 2)]:
        door.relate(*edge)

    assert edges(door.relations(1)) == [
        (1, "f", 2),
        (1, "follows", 2),
        (1, "follows_up", 2),
        (2, "follows", 1),
    ]
    assert edges(door.relations(1, relation_type="follows")) == [
        (1, "follows", 2),
        (2, "follows", 1),
    ]
    assert edges([door.unrelate(1, "follows", 2)]) == [(1, "follows", 2)]
    assert edges(door.relations(2)) == [(2, "follows", 1), (1, "f", 2), (1, "follows_up", 2)]


def test_a_relation_that_is_removed_is_gone_from_both_ends(door: Door) -> None:
    door.record_batch([draft(), draft()])
    related = door.relate(1, "follows", 2, strength=0.5)

    assert door.unrelate(1, "follows", 2) == related

    assert door.relations(1) == door.relations(2) == []
    assert told(lambda: door.unrelate(1, "follows", 2)) == ("not found", "Relation not found")
    assert told(lambda: door.unrelate(2, "follows", 1)) == ("not found", "Relation not found")


# What the other agent finds, what it is told, and for which of the two ends.
HIDDEN: Fields = {"is_public": False}
READ_ONLY: Fields = {"read_only": True}
FORBIDDEN = ("forbidden", "This memory is read-only for all but the agent that made it")


@pytest.mark.parametrize("there", [True, False], ids=["related before", "not related"])
@pytest.mark.parametrize("end", ["from", "to"])
@pytest.mark.parametrize("state", ["missing", "deleted", "hidden", "read-only", "open"])
def test_who_may_relate_what(door_of: DoorOf, state: str, end: str, there: bool) -> None:
    maker, other = door_of(MAKER), door_of(OTHER)
    plain = maker.record(**draft())["id"]
    special = maker.record(**draft())["id"]
    edge = (special, "follows", plain) if end == "from" else (plain, "follows", special)
    if there and state != "missing":
        maker.relate(*edge)
    if state == "deleted":
        maker.retire(special)
    elif state == "missing":
        edge = (999, "follows", plain) if end == "from" else (plain, "follows", 999)
        special = 999
    elif state != "open":
        maker.share(special, **(HIDDEN if state == "hidden" else READ_ONLY))

    gone = state in {"missing", "deleted", "hidden"}
    shown = there and not gone
    assert len(other.relations(plain)) == shown
    assert other.inspect(plain, full=True)["related_memories"] == [special] * shown
    if gone:
        assert told(lambda: other.relations(special))[0] == "not found"
        for use in (other.relate, other.unrelate):
            kind, text = told(partial(use, *edge))
            assert (kind, text[:7]) == ("not found", "Memory ")
        return
    assert len(other.relations(special)) == shown
    if state == "read-only" and end == "from":
        assert told(lambda: other.relate(*edge)) == FORBIDDEN
        assert told(lambda: other.unrelate(*edge)) == FORBIDDEN
        return
    if not there:
        assert told(lambda: other.unrelate(*edge)) == ("not found", "Relation not found")
    assert edges([other.relate(*edge)]) == [edge]
    assert edges([other.unrelate(*edge)]) == [edge]


def test_a_memory_does_not_relate_to_itself(door: Door) -> None:
    door.record(**draft())

    for memory_id in (1, 999):
        for use in (door.relate, door.unrelate):
            with pytest.raises(Refused) as refused:
                use(memory_id, "follows", memory_id)
            assert (refused.value.kind, refused.value.where) == ("invalid", ["to_id"])
    assert door.relations(1) == []


def test_what_is_hidden_comes_back_when_it_is_shared_again(door_of: DoorOf) -> None:
    maker, other = door_of(MAKER), door_of(OTHER)
    maker.record_batch([draft(), draft()])
    maker.relate(1, "follows", 2)
    maker.share(2, is_public=False)
    assert other.relations(1) == []
    assert edges(maker.relations(1)) == [(1, "follows", 2)]

    maker.share(2, shared_with_agents=[OTHER])
    assert edges(other.relations(1)) == [(1, "follows", 2)]


def test_relations_are_no_part_of_a_version_and_listing_them_marks_nothing(
    http: HttpClient, clock: Clock
) -> None:
    http_door = HttpDoor(http)
    before = http_door.record_batch([draft(), draft()])
    clock.advance()
    http_door.relate(1, "follows", 2)
    http_door.relations(1)
    http_door.unrelate(1, "follows", 2)

    assert [http_door.revise(each["id"]) for each in before] == before


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"strength": 1.01}, "strength"),
        ({"strength": -0.1}, "strength"),
        ({"strength": "1"}, "strength"),
        ({"strength": None}, "strength"),
        ({"strength": True}, "strength"),
        ({"invalidate": True}, "invalidate"),
        ({"invalidate": "yes"}, "invalidate"),
        ({"created_at": "2026-04-06T14:12:00.000000Z"}, "created_at"),
    ],
    ids=repr,
)
def test_a_relation_that_breaks_a_rule_is_refused(door: Door, fields: Fields, where: str) -> None:
    door.record_batch([draft(), draft()])
    with pytest.raises(Refused) as refused:
        door.relate(1, "follows", 2, **fields)

    assert (refused.value.kind, refused.value.where) == ("invalid", [where])
    assert door.relations(1) == []


@pytest.mark.parametrize("wrong", ["Follows", "f-f", "_f", "f" * 33, "f1", "é", "follows\n"])
def test_a_type_is_up_to_32_letters_and_underscores(door: Door, wrong: str) -> None:
    door.record_batch([draft(), draft()])
    assert door.relate(1, "f" * 32, 2)["relation_type"] == "f" * 32
    assert door.relate(1, "f_f", 2)["relation_type"] == "f_f"

    uses: list[Callable[[], Any]] = [
        lambda: door.relate(1, wrong, 2),
        lambda: door.unrelate(1, wrong, 2),
        lambda: door.relations(1, relation_type=wrong),
    ]
    for use in uses:
        with pytest.raises(Refused) as refused:
            use()
        assert (refused.value.kind, refused.value.where) == ("invalid", ["relation_type"])


def test_what_supersedes_can_invalidate_in_the_same_step(door: Door, clock: Clock) -> None:
    old, new = door.record_batch([draft("Lives in Rome"), draft("Lives in Oslo")])
    later = clock.advance()

    related = door.relate(new["id"], "supersedes", old["id"], invalidate=True)

    assert edges([related]) == [(2, "supersedes", 1)]
    invalid = old | {"status": "invalid", "version": 2, "updated_at": later}
    assert door.revise(1) == invalid
    assert door.revise(2) == new

    clock.advance()
    door.relate(2, "supersedes", 1, strength=0.5, invalidate=True)
    assert door.revise(1) == invalid, "what is invalid is not changed again"

    door.unrelate(2, "supersedes", 1)
    assert door.revise(1) == invalid

    clock.advance()
    assert door.revise(1, status="active")["version"] == 3
    door.relate(2, "supersedes", 1, invalidate=True)
    assert door.revise(1)["version"] == 4
    assert door.search(status="invalid")["total"] == 1


def test_what_is_invalidated_must_be_the_agents_to_change(door_of: DoorOf) -> None:
    maker, other = door_of(MAKER), door_of(OTHER)
    for fields in (READ_ONLY, READ_ONLY | {"status": "invalid"}, HIDDEN):
        old = maker.record(**draft(**fields))
        new = other.record(**draft())
        refused = told(partial(other.relate, new["id"], "supersedes", old["id"], invalidate=True))
        if fields == HIDDEN:
            assert refused[0] == "not found"
        else:
            assert refused == FORBIDDEN
        assert maker.revise(old["id"]) == old
        assert other.relations(new["id"]) == []


def test_the_full_view_tells_what_a_memory_is_related_to(door: Door) -> None:
    door.record_batch([draft() for _ in range(5)])
    for edge in [(3, "follows", 5), (3, "contradicts", 1), (1, "follows", 3), (4, "a", 3)]:
        door.relate(*edge)
    assert door.inspect(3, full=True)["related_memories"] == [1, 4, 5]

    door.retire(5)

    assert door.inspect(3, full=True)["related_memories"] == [1, 4]
    listed = door.search(full=True)["items"]
    assert [each["related_memories"] for each in listed] == [[3], [], [1, 4], [3]]
    (deleted,) = door.search(full=True, status="deleted")["items"]
    assert deleted["related_memories"] == []


def test_a_memory_that_was_retired_is_in_no_relation(door: Door) -> None:
    door.record_batch([draft(), draft(), draft()])
    door.relate(1, "follows", 2)
    door.relate(3, "follows", 1)
    door.retire(2)

    assert edges(door.relations(1)) == [(3, "follows", 1)]
    for use in (partial(door.relations, 2), partial(door.relate, 1, "follows", 2)):
        assert told(use)[0] == "not found"


def test_relations_come_in_pages_and_in_order(http: HttpClient) -> None:
    door = HttpDoor(http)
    door.record_batch([draft() for _ in range(12)])
    expected = [(12, kind, to) for kind in ("elaborates", "follows") for to in range(1, 5)]
    expected += [(other, "a", 12) for other in range(1, 12)]
    for edge in reversed(expected):
        door.relate(*edge)
    door.retire(3)
    expected = [edge for edge in expected if 3 not in edge]

    got: list[Fields] = []
    while True:
        target = f"/memories/12/relations?limit=4&offset={len(got)}"
        page = http.send("GET", target).body
        assert (page["total"], page["limit"], page["offset"]) == (len(expected), 4, len(got))
        got += page["items"]
        assert page["has_more"] is (len(got) < len(expected))
        if not page["has_more"]:
            break
    assert edges(got) == expected
    assert http.send("GET", "/memories/12/relations?offset=99").body["items"] == []


@pytest.mark.parametrize("query", ["direction=up", "relation_type=A", "limit=0", "depth=2"])
def test_a_wrong_question_for_relations_is_refused(http: HttpClient, query: str) -> None:
    http.send("POST", "/memories", draft())
    answer = http.send("GET", f"/memories/1/relations?{query}")

    assert answer.status == 422
    assert answer.body["detail"][0]["loc"] == ["query", query.partition("=")[0]]


def test_a_wrong_type_is_told_in_the_same_words_in_a_path_and_in_a_query(http: HttpClient) -> None:
    http.send("POST", "/memories", draft())
    answers = [
        http.send("DELETE", "/memories/1/relations/A/2"),
        http.send("GET", "/memories/1/relations?relation_type=A"),
    ]

    told = "must be 1 to 32 letters from a to z and underscores, a letter first"
    assert [answer.body["detail"][0]["msg"] for answer in answers] == [told, told]


def test_a_put_says_whether_the_relation_is_new_and_needs_no_body(http: HttpClient) -> None:
    http.send("POST", "/memories/batch", [draft(), draft()])
    target = "/memories/1/relations/follows/2"

    assert http.request("PUT", target, b"", {}).status == 201
    assert http.request("PUT", target, b"", {}).status == 200
    assert http.send("PUT", target, {}).status == 200
    assert http.send("PUT", target, {"strength": 0}).body["strength"] == 0
    assert http.send("PUT", target, []).status == 422
    assert http.request("PUT", target, b"{}", {}).status == 415
    assert http.send("DELETE", target).body["strength"] == 0
    assert http.send("DELETE", target).body == {"detail": "Relation not found"}
    assert http.send("PUT", target).status == 201
    assert http.send("PUT", "/memories/1/relations/follows/3").body == {
        "detail": "Memory not found"
    }


@pytest.mark.parametrize("wrong", ["0", "-1", "abc", "1.0", "9223372036854775808", "%00"])
def test_an_id_that_is_none_is_refused(http: HttpClient, wrong: str) -> None:
    for target, name in (
        (f"/memories/{wrong}/relations/follows/1", "memory_id"),
        (f"/memories/1/relations/follows/{wrong}", "to_id"),
    ):
        answer = http.send("PUT", target)
        assert (answer.status, answer.body["detail"][0]["loc"]) == (422, ["path", name])

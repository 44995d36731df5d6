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

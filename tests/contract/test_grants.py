"""Contract section 5: what one agent of a user may do with what another made."""

from collections.abc import Callable
from typing import Any

import pytest

from clock import Clock
from doors import Door, Fields, Refused, draft, ids

DoorOf = Callable[[str], Door]

MAKER, LISTED, OTHER = "maker", "Listed/#%🧠", "other"

# What is granted, and what each agent may then do.
GRANTS: dict[str, Fields] = {
    "public": {},
    "public, read-only": {"read_only": True},
    "private": {"is_public": False},
    "private, read-only": {"is_public": False, "read_only": True},
    "shared": {"is_public": False, "shared_with_agents": [LISTED]},
    "shared, read-only": {"is_public": False, "read_only": True, "shared_with_agents": [LISTED]},
    "public and shared": {"shared_with_agents": [LISTED]},
}
READ, CHANGE = "read", "read and change"
ALLOWED: dict[str, dict[str, str]] = {
    "public": {LISTED: CHANGE, OTHER: CHANGE},
    "public, read-only": {LISTED: READ, OTHER: READ},
    "private": {},
    "private, read-only": {},
    "shared": {LISTED: CHANGE},
    "shared, read-only": {LISTED: READ},
    "public and shared": {LISTED: CHANGE, OTHER: CHANGE},
}


@pytest.mark.parametrize("granted", GRANTS)
@pytest.mark.parametrize("how", ["recorded so", "shared later"])
def test_each_agent_may_do_what_is_granted_and_no_more(
    door_of: DoorOf, granted: str, how: str
) -> None:
    maker = door_of(MAKER)
    if how == "recorded so":
        memory = maker.record(**draft("Likes tea", **GRANTS[granted]))
    else:
        memory = maker.record(**draft("Likes tea"))
        maker.share(memory["id"], **GRANTS[granted])

    for agent in (LISTED, OTHER, MAKER):
        door = door_of(agent)
        allowed = CHANGE if agent == MAKER else ALLOWED[granted].get(agent)
        for look in LOOKS:
            assert look(door, memory["id"]) is (allowed is not None), (agent, look)
        for change in CHANGES:
            assert (
                outcome(change, door, memory["id"])
                == {
                    None: "not found",
                    READ: "forbidden",
                    CHANGE: "done",
                }[allowed]
            ), (agent, change)
        assert (
            outcome(share, door, memory["id"])
            == {
                None: "not found",
                READ: "forbidden",
                CHANGE: "done" if agent == MAKER else "forbidden",
            }[allowed]
        )
        if agent != MAKER:
            assert (
                outcome(retire, door, memory["id"])
                == {
                    None: "not found",
                    READ: "forbidden",
                    CHANGE: "done",
                }[allowed]
            )
            if allowed == CHANGE:
                memory = maker.record(**draft("Likes tea", **GRANTS[granted]))
    assert outcome(retire, maker, memory["id"]) == "done"


def inspects(door: Door, memory_id: int) -> bool:
    return outcome(lambda door, memory_id: door.inspect(memory_id), door, memory_id) == "done"


def counts(query: Fields) -> Callable[[Door, int], bool]:
    def found(door: Door, memory_id: int) -> bool:
        page = door.search(**query)
        assert page["total"] == len(page["items"])
        return memory_id in ids(page)

    return found


LOOKS: list[Callable[[Door, int], bool]] = [
    inspects,
    counts({}),
    counts({"q": "tea"}),
    counts({"q": "te"}),
    counts({"tag": "test"}),
    counts({"tag": "test", "q": "tea", "memory_type": "fact", "status": "active"}),
    counts({"memory_type": "fact", "sort": "updated_at"}),
    counts({"sort": "last_accessed_at", "status": "active"}),
]


def revise(door: Door, memory_id: int) -> None:
    door.revise(memory_id, importance=7)


def revise_nothing(door: Door, memory_id: int) -> None:
    door.revise(memory_id)


def revise_stale(door: Door, memory_id: int) -> None:
    with pytest.raises(Refused) as refused:
        door.revise(memory_id, 99, content="New")
    if refused.value.kind != "stale":
        raise refused.value


CHANGES: list[Callable[[Door, int], Any]] = [revise_stale, revise_nothing, revise]


def share(door: Door, memory_id: int) -> None:
    door.share(memory_id)


def retire(door: Door, memory_id: int) -> None:
    door.retire(memory_id)


def outcome(use: Callable[[Door, int], Any], door: Door, memory_id: int) -> str:
    try:
        use(door, memory_id)
    except Refused as refused:
        return refused.kind
    return "done"


def test_what_is_hidden_cannot_be_told_from_what_is_missing(door_of: DoorOf) -> None:
    hidden = door_of(MAKER).record(**draft(is_public=False))["id"]
    door = door_of(OTHER)
    uses: list[Callable[[int], Any]] = [
        door.inspect,
        lambda gone: door.revise(gone, content="New"),
        lambda gone: door.revise(gone, 99, content="New"),
        door.revise,
        door.retire,
        lambda gone: door.retire(gone, 99),
        lambda gone: door.share(gone, is_public=True),
    ]
    for use in uses:
        told = []
        for memory_id in (hidden, 999):
            with pytest.raises(Refused) as refused:
                use(memory_id)
            told.append((refused.value.kind, refused.value.text.replace(str(memory_id), "N")))
        assert told[0] == told[1]
        assert told[0][0] == "not found"


def test_an_agent_without_grants_finds_nothing_and_an_empty_list_is_no_one(
    door_of: DoorOf,
) -> None:
    maker = door_of(MAKER)
    for agents in ([], [LISTED]):
        maker.record(**draft(is_public=False, shared_with_agents=agents))

    other = door_of(OTHER).search()

    assert (other["items"], other["total"], other["has_more"]) == ([], 0, False)
    assert ids(door_of(LISTED).search()) == [2]
    assert ids(maker.search()) == [1, 2]


def test_pages_and_totals_count_exactly_what_may_be_read(door_of: DoorOf) -> None:
    maker, listed, other = door_of(MAKER), door_of(LISTED), door_of(OTHER)
    each = list(GRANTS.values())
    maker.record_batch([draft(f"Tea {n}", **each[n % 7]) for n in range(25)])
    other.record(**draft("Tea of another's", is_public=False))
    may_read = {
        MAKER: list(range(1, 26)),
        LISTED: [n + 1 for n in range(25) if n % 7 in {0, 1, 4, 5, 6}],
        OTHER: [*(n + 1 for n in range(25) if n % 7 in {0, 1, 6}), 26],
    }
    for door, agent in ((maker, MAKER), (listed, LISTED), (other, OTHER)):
        queries: list[Fields] = [{}, {"q": "tea"}, {"tag": "test"}, {"sort": "id"}, {"q": "te"}]
        for query in queries:
            got = []
            for offset in range(0, 30, 10):
                page = door.search(**query, offset=offset)
                assert page["total"] == len(may_read[agent])
                got += ids(page)
            assert sorted(got) == may_read[agent]


def test_only_what_may_be_read_is_marked_as_accessed(door_of: DoorOf, clock: Clock) -> None:
    maker, other = door_of(MAKER), door_of(OTHER)
    hidden = maker.record(**draft(is_public=False))["id"]
    clock.advance()
    other.search()

    assert maker.revise(hidden)["last_accessed_at"] is None


def test_grants_are_no_part_of_the_version(door_of: DoorOf, clock: Clock) -> None:
    maker = door_of(MAKER)
    before = maker.record(**draft())
    clock.advance()

    permissions = maker.share(before["id"], is_public=False, shared_with_agents=["a", "b", "a"])

    assert permissions == {
        "is_public": False,
        "read_only": False,
        "shared_with_agents": ["a", "b"],
    }
    assert maker.revise(before["id"]) == before
    assert maker.share(before["id"]) == permissions


FULL = [
    "agent_id",
    "importance",
    "category",
    "source",
    "access_count",
    "related_memories",
    "permissions",
]


def test_the_full_view_adds_its_fields_after_the_nine_and_nothing_else_shows_them(
    door_of: DoorOf, clock: Clock
) -> None:
    door = door_of(MAKER)
    memory = door.record(
        **draft(importance=9, category="drinks", source="a talk", shared_with_agents=[OTHER])
    )
    full = door.inspect(memory["id"], full=True)

    assert list(full) == [*memory, *FULL]
    assert full == memory | {
        "last_accessed_at": clock.now,
        "agent_id": MAKER,
        "importance": 9,
        "category": "drinks",
        "source": "a talk",
        "access_count": 1,
        "related_memories": [],
        "permissions": {
            "is_public": True,
            "read_only": False,
            "shared_with_agents": [OTHER],
        },
    }
    (listed,) = door.search(full=True)["items"]
    assert listed == full | {"access_count": 2}
    assert list(door.search()["items"][0]) == list(memory)
    assert list(door.revise(memory["id"], importance=1)) == list(memory)


def test_the_extended_fields_have_defaults_and_count_as_changes(
    door_of: DoorOf, clock: Clock
) -> None:
    door = door_of(MAKER)
    memory_id = door.record(**draft())["id"]
    full = door.inspect(memory_id, full=True)
    assert (full["importance"], full["category"], full["source"]) == (5, None, None)

    changes: list[Fields] = [{"importance": 0}, {"category": "c"}, {"source": "s"}]
    for version, change in enumerate(changes, start=2):
        later = clock.advance()
        changed = door.revise(memory_id, **change)
        assert (changed["version"], changed["updated_at"]) == (version, later)
        assert door.revise(memory_id, **change)["version"] == version
    full = door.inspect(memory_id, full=True)
    assert (full["importance"], full["category"], full["source"]) == (0, "c", "s")


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"importance": 11}, "importance"),
        ({"importance": -1}, "importance"),
        ({"importance": "5"}, "importance"),
        ({"importance": 5.5}, "importance"),
        ({"category": ""}, "category"),
        ({"category": "x" * 65}, "category"),
        ({"source": None}, "source"),
        ({"source": "x" * 257}, "source"),
    ],
    ids=repr,
)
def test_an_extended_field_that_breaks_a_rule_is_refused(
    door_of: DoorOf, fields: Fields, where: str
) -> None:
    door = door_of(MAKER)
    memory_id = door.record(**draft())["id"]
    writes: list[Callable[[], Any]] = [
        lambda: door.record(**draft(**fields)),
        lambda: door.revise(memory_id, None, **fields),
    ]
    for write in writes:
        with pytest.raises(Refused) as refused:
            write()
        assert (refused.value.kind, refused.value.where) == ("invalid", [where])


@pytest.mark.parametrize(
    ("grants", "where"),
    [
        ({"is_public": "yes"}, "is_public"),
        ({"is_public": None}, "is_public"),
        ({"read_only": 1}, "read_only"),
        ({"shared_with_agents": "a"}, "shared_with_agents"),
        ({"shared_with_agents": ["a", ""]}, "shared_with_agents.1"),
        ({"shared_with_agents": ["x" * 257]}, "shared_with_agents.0"),
        ({"shared_with_agents": [str(n) for n in range(101)]}, "shared_with_agents"),
        ({"agent_id": "someone"}, "agent_id"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_grants_that_break_a_rule_are_refused(door_of: DoorOf, grants: Fields, where: str) -> None:
    door = door_of(MAKER)
    memory_id = door.record(**draft(is_public=False))["id"]
    with pytest.raises(Refused) as refused:
        door.share(memory_id, **grants)

    assert (refused.value.kind, refused.value.where) == ("invalid", [where])
    assert door.share(memory_id)["is_public"] is False


def test_any_name_of_an_agent_is_its_own(door_of: DoorOf) -> None:
    long = "\U0001f9e0 /#%" * 50 + "/end.%"
    maker = door_of(long)
    memory_id = maker.record(**draft(is_public=False, shared_with_agents=[long[:-1]]))["id"]

    assert len(long) == 256
    assert outcome(lambda door, _: door.inspect(memory_id), maker, 0) == "done"
    assert inspects(door_of(long[:-1]), memory_id)
    assert not inspects(door_of(long[:-2]), memory_id)

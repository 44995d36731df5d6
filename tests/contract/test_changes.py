"""Contract sections 1 and 3: what changes a memory, and what does not."""

from collections.abc import Callable

import pytest

from clock import Clock
from doors import Door, Fields, Memory, Refused, draft, ids


def test_a_revise_changes_the_sent_fields_and_keeps_the_others(door: Door, clock: Clock) -> None:
    before = door.record(content="Likes tea", tags=["a", "b"], memory_type="preference")
    later = clock.advance()

    after = door.revise(before["id"], status="invalid")

    assert after == before | {"status": "invalid", "version": 2, "updated_at": later}


@pytest.mark.parametrize(
    "change",
    [
        {"content": "Likes coffee"},
        {"tags": ["b", "a"]},
        {"tags": ["a", "b", "c"]},
        {"memory_type": "identity"},
        {"status": "invalid"},
        {"content": "Likes coffee", "tags": ["z"], "memory_type": "event", "status": "invalid"},
    ],
    ids=repr,
)
def test_each_real_change_is_one_version_and_is_kept(
    door: Door, clock: Clock, change: Fields
) -> None:
    before = door.record(content="Likes tea", tags=["a", "b"])
    later = clock.advance()

    after = door.revise(before["id"], **change)

    assert after == before | change | {"version": 2, "updated_at": later}
    assert door.inspect(before["id"]) == after | {"last_accessed_at": later}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"content": "Likes tea"},
        {"tags": ["a", "b"]},
        {"tags": ["a", "b", "a"]},
        {"content": "Likes tea", "tags": ["a", "b"], "memory_type": "fact", "status": "active"},
    ],
    ids=repr,
)
def test_a_revise_to_the_stored_values_changes_nothing(
    door: Door, clock: Clock, change: Fields
) -> None:
    before = door.record(content="Likes tea", tags=["a", "b"])
    clock.advance()

    assert door.revise(before["id"], **change) == before


def test_a_revise_does_not_count_as_an_access(door: Door, clock: Clock) -> None:
    memory_id = door.record(**draft())["id"]
    seen = door.inspect(memory_id)
    clock.advance()

    assert door.revise(memory_id, content="New")["last_accessed_at"] == seen["last_accessed_at"]


def test_reads_and_retire_change_neither_version_nor_updated_at(door: Door, clock: Clock) -> None:
    before = door.record(**draft())
    clock.advance()
    read = door.inspect(before["id"])
    clock.advance()
    door.search()
    listed = clock.now
    clock.advance()
    retired = door.retire(before["id"])

    assert read == before | {"last_accessed_at": read["last_accessed_at"]}
    assert retired == before | {"status": "deleted", "last_accessed_at": listed}


def test_at_the_expected_version_a_write_goes_through(door: Door) -> None:
    memory_id = door.record(**draft())["id"]

    assert door.revise(memory_id, 1, content="Second")["version"] == 2
    assert door.retire(memory_id, 2)["status"] == "deleted"


def test_at_another_version_nothing_changes_and_the_current_memory_comes_back(
    door: Door, clock: Clock
) -> None:
    memory_id = door.record(**draft())["id"]
    current = door.revise(memory_id, content="Second")
    clock.advance()

    writes: list[Callable[[], Memory]] = [
        lambda: door.revise(memory_id, 1, content="Stale"),
        lambda: door.revise(memory_id, 3, content="Ahead"),
        lambda: door.revise(memory_id, 1),
        lambda: door.retire(memory_id, 1),
    ]
    for write in writes:
        with pytest.raises(Refused) as refused:
            write()
        assert (refused.value.kind, refused.value.current) == ("stale", current)

    assert door.revise(memory_id) == current


def test_a_retired_memory_is_gone_from_everything_but_its_own_status(door: Door) -> None:
    memory_id = door.record(content="Likes tea", tags=["drink"])["id"]
    kept = door.record(content="Likes cake", tags=["food"])["id"]

    assert door.retire(memory_id)["status"] == "deleted"

    assert (ids(door.search()), door.search()["total"]) == ([kept], 1)
    assert door.search(q="tea")["total"] == 0
    assert door.search(tag="drink")["total"] == 0
    assert door.search(status="active")["total"] == 1
    assert ids(door.search(status="deleted")) == [memory_id]
    assert ids(door.search(status="deleted", q="tea")) == [memory_id]
    uses: list[Callable[[int], Memory]] = [
        door.inspect,
        door.retire,
        lambda gone: door.revise(gone, content="Back"),
    ]
    for use in uses:
        with pytest.raises(Refused) as refused:
            use(memory_id)
        assert refused.value.kind == "not found"


def test_a_missing_memory_is_not_found_whatever_version_is_expected(door: Door) -> None:
    memory_id = door.record(**draft())["id"]
    door.retire(memory_id)

    for missing in (memory_id, 999, 2**63 - 1):
        uses: list[Callable[[int], Memory]] = [
            lambda gone: door.revise(gone, 1, content="Back"),
            lambda gone: door.retire(gone, 1),
            door.inspect,
        ]
        for use in uses:
            with pytest.raises(Refused) as refused:
                use(missing)
            assert refused.value.kind == "not found"


def test_what_was_retired_can_be_recorded_again_under_a_new_id(door: Door) -> None:
    first = door.record(**draft())
    door.retire(first["id"])
    again = door.record(**draft())

    assert again["id"] != first["id"]
    assert ids(door.search(q="tea")) == [again["id"]]


@pytest.mark.parametrize("memory_id", ["abc", "0", "-1", "1.0", "9223372036854775808", "%00"])
def test_an_id_that_is_no_positive_integer_is_invalid(door: Door, memory_id: str) -> None:
    door.record(**draft())

    uses: list[Callable[[str], Memory]] = [
        door.inspect,
        door.retire,
        lambda bad: door.revise(bad, content="x"),
    ]
    for use in uses:
        with pytest.raises(Refused) as refused:
            use(memory_id)
        assert (refused.value.kind, refused.value.where) == ("invalid", ["memory_id"])


def test_a_batch_is_stored_in_order_with_growing_ids(door: Door, clock: Clock) -> None:
    memories = door.record_batch([draft(f"Number {n}") for n in range(25)])

    assert [memory["id"] for memory in memories] == list(range(1, 26))
    assert [memory["content"] for memory in memories] == [f"Number {n}" for n in range(25)]
    assert {memory["created_at"] for memory in memories} == {clock.now}
    assert door.search(limit=25)["items"] == [
        memory | {"last_accessed_at": clock.now} for memory in memories
    ]


def test_one_invalid_element_stores_none_of_the_batch_and_is_named(door: Door) -> None:
    drafts = [draft(f"Number {n}") for n in range(25)]
    drafts[23]["content"] = " "

    with pytest.raises(Refused) as refused:
        door.record_batch(drafts)

    assert (refused.value.kind, refused.value.where) == ("invalid", ["23.content"])
    assert door.search()["total"] == 0
    assert door.record(**draft())["id"] == 1


@pytest.mark.parametrize("count", [0, 26, 1_000])
def test_a_batch_of_another_size_is_refused(door: Door, count: int) -> None:
    with pytest.raises(Refused) as refused:
        door.record_batch([draft()] * count)

    assert refused.value.kind == "invalid"
    assert door.search()["total"] == 0


def test_a_change_is_found_by_its_new_words_and_tags_only(door: Door) -> None:
    memory_id = door.record(content="Likes tea", tags=["drink"])["id"]
    door.revise(memory_id, content="Likes cake", tags=["food"])

    assert [door.search(q=q)["total"] for q in ("tea", "cake", "drink", "food")] == [0, 1, 0, 1]
    assert [door.search(tag=tag)["total"] for tag in ("drink", "food")] == [0, 1]


@pytest.mark.parametrize("version", [2**63, 10**30])
def test_a_version_that_no_memory_can_have_matches_none(door: Door, version: int) -> None:
    current = door.record(**draft())

    writes: list[Callable[[], Memory]] = [
        lambda: door.revise(current["id"], version, content="New"),
        lambda: door.retire(current["id"], version),
    ]
    for write in writes:
        with pytest.raises(Refused) as refused:
            write()
        assert (refused.value.kind, refused.value.current) == ("stale", current)

"""Contract section 1: the record, and what may be in it."""

from collections.abc import Callable

import pytest

from clock import Clock
from doors import Door, Fields, Memory, Refused, draft

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


def test_a_new_memory_has_exactly_the_nine_fields_in_order(door: Door, clock: Clock) -> None:
    memory = door.record(content="Likes tea", tags=["food", "drink"])

    assert list(memory) == FIELDS
    assert memory == {
        "id": 1,
        "content": "Likes tea",
        "tags": ["food", "drink"],
        "created_at": "2026-04-06T14:12:00.000000Z",
        "updated_at": "2026-04-06T14:12:00.000000Z",
        "last_accessed_at": None,
        "memory_type": "fact",
        "status": "active",
        "version": 1,
    }


def test_every_answer_shows_the_nine_fields_in_order(door: Door) -> None:
    memory_id = door.record(**draft())["id"]

    assert list(door.search()["items"][0]) == FIELDS
    assert list(door.inspect(memory_id)) == FIELDS
    assert list(door.record_batch([draft()])[0]) == FIELDS
    assert list(door.revise(memory_id, content="Likes coffee")) == FIELDS
    assert list(door.retire(memory_id)) == FIELDS


def test_ids_grow_and_are_not_given_again_after_a_retire(door: Door) -> None:
    first = door.record(**draft())
    door.retire(first["id"])
    second = door.record(**draft())
    batch = door.record_batch([draft(), draft()])

    assert [first["id"], second["id"], *(memory["id"] for memory in batch)] == [1, 2, 3, 4]


@pytest.mark.parametrize("memory_type", ["preference", "fact", "identity", "event"])
@pytest.mark.parametrize("status", ["active", "invalid"])
def test_type_and_status_are_kept_as_sent(door: Door, memory_type: str, status: str) -> None:
    memory = door.record(**draft(memory_type=memory_type, status=status))

    assert (memory["memory_type"], memory["status"]) == (memory_type, status)
    assert door.inspect(memory["id"])["memory_type"] == memory_type


@pytest.mark.parametrize(
    "content",
    [
        "x",
        "x" * 8_000,
        "  kept \t as\r\nsent  ",
        "caf\u00e9 and cafe\u0301",  # composed and not: neither is rewritten
        "\U0001f9e0" * 8_000,  # characters are counted, not bytes or UTF-16 units
        "\x7f\x85\ufeff\ufffe",
        "'; DROP TABLE memories; --",
        '{"json": ["in", "text"]}',
        "\u202eright to left\u202c",
    ],
    ids=lambda content: repr(content[:12]),
)
def test_content_comes_back_exactly_as_sent(door: Door, content: str) -> None:
    memory_id = door.record(content=content, tags=["t"])["id"]

    assert door.inspect(memory_id)["content"] == content


@pytest.mark.parametrize(
    "content",
    ["", " ", "\t\r\n", "\u3000\u00a0", "x" * 8_001, "a\x00b", "a\x1fb", "\x0b", "\x1b[0m"],
    ids=repr,
)
def test_content_that_breaks_a_rule_is_refused_by_name(door: Door, content: str) -> None:
    with pytest.raises(Refused) as refused:
        door.record(content=content, tags=["t"])

    assert (refused.value.kind, refused.value.where) == ("invalid", ["content"])
    assert door.search()["total"] == 0


def test_tags_keep_their_order_and_a_repeat_is_kept_once(door: Door) -> None:
    tags = ["b", "a", "b", "B", " a", "c,d", '["x"]']
    memory = door.record(content="x", tags=tags)

    assert memory["tags"] == ["b", "a", "B", " a", "c,d", '["x"]']
    assert door.inspect(memory["id"])["tags"] == memory["tags"]


def test_twenty_tags_of_sixty_four_characters_are_taken(door: Door) -> None:
    tags = [f"{n:02}".rjust(64, "\u00e9") for n in range(20)]

    assert door.record(content="x", tags=tags)["tags"] == tags


@pytest.mark.parametrize(
    ("tags", "where"),
    [
        ([], "tags"),
        ([str(n) for n in range(21)], "tags"),
        (["a", ""], "tags.1"),
        (["a", "b", " \t"], "tags.2"),
        (["x" * 65], "tags.0"),
        (["a\x00"], "tags.0"),
        (["a", None], "tags.1"),
        (["a", 1], "tags.1"),
        ("a", "tags"),
        ('["a"]', "tags"),
        ({"a": 1}, "tags"),
    ],
    ids=repr,
)
def test_tags_that_break_a_rule_are_refused_by_place(door: Door, tags: object, where: str) -> None:
    with pytest.raises(Refused) as refused:
        door.record(content="x", tags=tags)

    assert refused.value.kind == "invalid"
    assert where in refused.value.where
    assert door.search()["total"] == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"memory_type": "opinion"},
        {"memory_type": "FACT"},
        {"memory_type": ""},
        {"status": "deleted"},
        {"status": "Active"},
        {"content": 5},
        {"content": ["a"]},
        {"content": None},
        {"tags": None},
        {"memory_type": None},
        {"status": None},
    ],
    ids=repr,
)
def test_a_wrong_value_is_refused_by_name_on_create_and_revise(door: Door, fields: Fields) -> None:
    kept = door.record(**draft())
    writes: list[Callable[[], Memory]] = [
        lambda: door.record(**{**draft(), **fields}),
        lambda: door.revise(kept["id"], **fields),
    ]
    for write in writes:
        with pytest.raises(Refused) as refused:
            write()
        assert (refused.value.kind, refused.value.where) == ("invalid", list(fields))

    assert door.search()["items"] == [kept | {"last_accessed_at": kept["created_at"]}]


@pytest.mark.parametrize("missing", ["content", "tags"])
def test_a_create_needs_content_and_tags(door: Door, missing: str) -> None:
    fields = draft()
    del fields[missing]

    with pytest.raises(Refused) as refused:
        door.record(**fields)

    assert (refused.value.kind, refused.value.where) == ("invalid", [missing])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", 7),
        ("user_id", "someone"),
        ("agent_id", "someone"),
        ("version", 9),
        ("created_at", "2020-01-01T00:00:00.000000Z"),
        ("updated_at", "2020-01-01T00:00:00.000000Z"),
        ("last_accessed_at", "2020-01-01T00:00:00.000000Z"),
        ("colour", "red"),
    ],
)
def test_what_the_service_gives_or_does_not_know_is_refused_by_name(
    door: Door, name: str, value: object
) -> None:
    kept = door.record(**draft())

    fields: Fields = {name: value}
    writes: list[Callable[[], Memory]] = [
        lambda: door.record(**draft(), **fields),
        lambda: door.revise(kept["id"], None, **draft("Changed"), **fields),
    ]
    for write in writes:
        with pytest.raises(Refused) as refused:
            write()
        assert (refused.value.kind, refused.value.where) == ("invalid", [name])

    assert door.search()["items"] == [kept | {"last_accessed_at": kept["created_at"]}]


def test_an_error_never_repeats_the_input(door: Door) -> None:
    with pytest.raises(Refused) as refused:
        door.record(content="secret" * 2_000, tags=["also secret" * 20], memory_type="hidden")

    assert "secret" not in refused.value.text
    assert "hidden" not in refused.value.text

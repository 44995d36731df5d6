"""Contract section 2: filters, order, pages and access times."""

from itertools import pairwise

import pytest

from clock import Clock
from doors import Door, Refused, draft, ids, pages

SORTS = ["id", "created_at", "updated_at", "last_accessed_at"]


def test_nothing_stored_is_an_empty_page(door: Door) -> None:
    assert door.search() == {
        "items": [],
        "total": 0,
        "limit": 10,
        "offset": 0,
        "has_more": False,
    }


def test_the_envelope_has_its_fields_in_order(door: Door) -> None:
    door.record(**draft())

    assert list(door.search()) == ["items", "total", "limit", "offset", "has_more"]


def test_filters_are_exact_and_compose(door: Door) -> None:
    door.record(content="Likes tea", tags=["a"], memory_type="preference")
    door.record(content="Likes tea", tags=["a"], memory_type="fact")
    door.record(content="Likes tea", tags=["b"], memory_type="preference", status="invalid")
    door.record(content="Hates tea", tags=["a", "b"], memory_type="preference")
    door.retire(4)

    assert ids(door.search()) == [1, 2, 3]
    assert ids(door.search(memory_type="preference")) == [1, 3]
    assert ids(door.search(status="active")) == [1, 2]
    assert ids(door.search(status="invalid")) == [3]
    assert ids(door.search(status="deleted")) == [4]
    assert ids(door.search(status="active", memory_type="preference", tag="a", q="tea")) == [1]
    assert ids(door.search(status="deleted", tag="b", q="hates")) == [4]
    assert ids(door.search(memory_type="event")) == []


@pytest.mark.parametrize(
    ("character", "holders"),
    [
        ("_", [1]),
        ("%", [3]),
        ("\\", [5]),
        ("[", [6]),
        ('"', [6, 7]),
        ("'", []),
        ("*", [8]),
        (",", [9]),
        ("0%", [3]),
        ('["', [6]),
        ("(", []),
        ("NEAR", []),
        ("OR", [10]),
        ("AND NOT", [10]),
        ("search_text:", []),
        ("^", []),
        ("-", []),
    ],
)
def test_every_character_of_q_means_itself(door: Door, character: str, holders: list[int]) -> None:
    contents = ["a_b", "axb", "50% off", "50 percent", "C:\\dir", '["x"]', 'say "hi"', "5 * 3"]
    for content in contents:
        door.record(content=content, tags=["plain", "other"])
    door.record(content="tagged", tags=["x,y"])
    door.record(content="this or that and not more", tags=["plain"])

    assert ids(door.search(q=character)) == holders


@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("größe", 1),
        ("GRÖSSE", 1),
        ("gro\u0308sse", 1),
        ("straße", 2),
        ("STRASSE", 2),
        ("strasse", 2),
        ("café", 3),
        ("CAFE\u0301", 3),
        ("cafe\u0301", 3),
        ("太郎", 4),
        ("太", 4),
        ("好み", 4),
        ("\U0001f9e0", 5),
        ("ΣΟΦΟΣ", 6),
        ("σοφος", 6),
        ("σοφοσ", 6),
        ("ﬁ", 7),
        ("FI", 7),
    ],
)
def test_q_ignores_case_and_composition_in_any_script(door: Door, q: str, found: int) -> None:
    door.record(content="GRÖSSE", tags=["t"])
    door.record(content="Straße", tags=["t"])
    door.record(content="x", tags=["Café"])
    door.record(content="太郎の好み", tags=["t"])
    door.record(content="a \U0001f9e0 b", tags=["t"])
    door.record(content="\u03c3\u03bf\u03c6\u03bf\u03c2", tags=["t"])
    door.record(content="ofﬁce", tags=["t"])

    assert ids(door.search(q=q)) == [found]


def test_a_match_never_spans_two_texts(door: Door) -> None:
    door.record(content="end", tags=["start", "middle"])

    for q in ("endstart", "end start", "startmiddle", "start middle", 'start","middle', "t,m"):
        assert door.search(q=q)["total"] == 0


def test_q_looks_in_content_and_in_each_tag(door: Door) -> None:
    door.record(content="Green tea", tags=["drink"])
    door.record(content="Black coffee", tags=["tea-free"])

    assert ids(door.search(q="tea")) == [1, 2]
    assert ids(door.search(q="te")) == [1, 2]
    assert ids(door.search(q="t")) == [1, 2]
    assert ids(door.search(q="n t")) == [1]
    assert ids(door.search(q=" tea")) == [1]


def test_a_tag_is_found_exactly(door: Door) -> None:
    for tags in (["test"], ["testing"], ["Test"], ["a,b"], ["a", "b"], ["caf\u00e9"]):
        door.record(content="x", tags=tags)

    assert ids(door.search(tag="test")) == [1]
    assert ids(door.search(tag="Test")) == [3]
    assert ids(door.search(tag="a,b")) == [4]
    assert ids(door.search(tag="a")) == [5]
    assert ids(door.search(tag="cafe\u0301")) == []
    assert ids(door.search(tag="tes")) == []


@pytest.mark.parametrize("name", ["q", "tag"])
@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u3000"])
def test_a_blank_filter_is_refused(door: Door, name: str, blank: str) -> None:
    with pytest.raises(Refused) as refused:
        door.search(**{name: blank})

    assert (refused.value.kind, refused.value.where) == ("invalid", [name])
    assert refused.value.text == "filter cannot be empty"


@pytest.mark.parametrize("name", ["q", "tag"])
def test_a_filter_has_at_most_256_characters(door: Door, name: str) -> None:
    assert door.search(**{name: "ß" * 256})["total"] == 0
    for wrong in ("x" * 257, "a\x00b", "\x1f"):
        with pytest.raises(Refused) as refused:
            door.search(**{name: wrong})
        assert (refused.value.kind, refused.value.where) == ("invalid", [name])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sort", "relevance"),
        ("sort", "-id"),
        ("sort", ""),
        ("limit", 0),
        ("limit", -1),
        ("limit", "ten"),
        ("limit", "1.5"),
        ("offset", -1),
        ("offset", "1.0"),
        ("status", "gone"),
        ("memory_type", "opinion"),
        ("page", 2),
        ("user_id", "someone"),
        ("agent_id", "someone"),
    ],
)
def test_a_wrong_or_unknown_parameter_is_refused_by_name(
    door: Door, name: str, value: object
) -> None:
    with pytest.raises(Refused) as refused:
        door.search(**{name: value})

    assert (refused.value.kind, refused.value.where) == ("invalid", [name])


def test_a_wrong_sort_is_told_the_four(door: Door) -> None:
    with pytest.raises(Refused) as refused:
        door.search(sort="relevance")

    assert all(f"'{sort}'" in refused.value.text for sort in SORTS)


@pytest.mark.onward
def test_each_sort_has_its_order(door: Door, clock: Clock) -> None:
    for content in ("first", "second", "third", "fourth"):
        door.record(**draft(content))
        clock.advance()
    door.revise(1, content="first, changed")
    clock.advance()
    door.inspect(3)
    clock.advance()
    door.inspect(2)

    assert ids(door.search(sort="last_accessed_at", limit=2)) == [2, 3]
    assert ids(door.search(sort="updated_at")) == [1, 4, 3, 2]
    assert ids(door.search(sort="created_at")) == [4, 3, 2, 1]
    assert ids(door.search(sort="id")) == [1, 2, 3, 4]
    assert ids(door.search()) == [1, 2, 3, 4]


def test_never_accessed_comes_last_and_equal_times_go_by_id_descending(
    door: Door, clock: Clock
) -> None:
    door.record_batch([draft(f"Number {n}") for n in range(6)])
    clock.advance()
    door.inspect(2)
    door.inspect(4)

    assert ids(door.search(sort="last_accessed_at", limit=100)) == [4, 2, 6, 5, 3, 1]


def test_limit_and_offset_are_kept_and_capped(door: Door) -> None:
    for _ in range(5):
        door.record_batch([draft() for _ in range(25)])

    page = door.search(limit=7, offset=3)
    assert (ids(page), page["limit"], page["offset"]) == (list(range(4, 11)), 7, 3)
    assert (page["total"], page["has_more"]) == (125, True)

    capped = door.search(limit=100_000)
    assert (len(capped["items"]), capped["limit"], capped["has_more"]) == (100, 100, True)

    last = door.search(limit=25, offset=100)
    assert (len(last["items"]), last["has_more"]) == (25, False)

    past = door.search(offset=125)
    assert past == {"items": [], "total": 125, "limit": 10, "offset": 125, "has_more": False}
    assert door.search(offset=2**63 - 1)["total"] == 125


@pytest.mark.hundreds
@pytest.mark.parametrize("sort", SORTS)
def test_300_records_of_one_timestamp_page_without_repeat_or_gap(door: Door, sort: str) -> None:
    for _ in range(12):
        door.record_batch([draft() for _ in range(25)])

    got = []
    for number in range(6):
        # Under this sort a retrieval moves what it returns to the front, so the next page is
        # always the last: what was not yet seen.
        offset = 250 if sort == "last_accessed_at" else 50 * number
        page = door.search(sort=sort, limit=50, offset=offset)
        assert page["total"] == 300
        got += ids(page)

    assert sorted(got) == list(range(1, 301))
    if sort in {"created_at", "updated_at"}:
        assert got == list(range(300, 0, -1))


@pytest.mark.hundreds
@pytest.mark.parametrize("sort", ["id", "created_at", "updated_at"])
def test_every_tenth_record_of_a_thousand_is_reached(door: Door, sort: str) -> None:
    kinds = ["preference" if n % 10 == 0 else "fact" for n in range(1_000)]
    for start in range(0, 1_000, 25):
        door.record_batch([draft(memory_type=kind) for kind in kinds[start : start + 25]])

    got = list(pages(door, memory_type="preference", sort=sort, limit=7))

    assert {page["total"] for page in got} == {100}
    assert sorted(memory_id for page in got for memory_id in ids(page)) == [
        n + 1 for n in range(0, 1_000, 10)
    ]


def test_a_page_marks_exactly_what_it_returns_with_one_time(door: Door, clock: Clock) -> None:
    door.record_batch([draft(f"Number {n}", memory_type="event") for n in range(6)])
    door.record(**draft("Filtered out"))
    seen = clock.advance()

    page = door.search(memory_type="event", limit=3, offset=1)

    assert [memory["last_accessed_at"] for memory in page["items"]] == [seen] * 3
    clock.advance()
    after = {memory["id"]: memory["last_accessed_at"] for memory in untouched(door)}
    assert after == {1: None, 2: seen, 3: seen, 4: seen, 5: None, 6: None, 7: None}


def test_order_is_that_before_the_read(door: Door, clock: Clock) -> None:
    door.record_batch([draft() for _ in range(3)])
    clock.advance()
    door.inspect(1)
    clock.advance()

    assert ids(door.search(sort="last_accessed_at")) == [1, 3, 2]
    # Now all three have one time, so the id decides.
    assert ids(door.search(sort="last_accessed_at")) == [3, 2, 1]


@pytest.mark.parametrize("sort", SORTS)
def test_what_was_recorded_is_found_at_once_under_every_sort(door: Door, sort: str) -> None:
    door.record_batch([draft() for _ in range(25)])
    door.search(limit=100)

    memory_id = door.record(**draft("The newest"))["id"]

    assert memory_id in ids(door.search(sort=sort, limit=100))
    assert ids(door.search(sort=sort, q="the newest")) == [memory_id]


def test_times_have_microseconds_and_go_by_them(door: Door, clock: Clock) -> None:
    for step in (0, 0.000001, 0.999999, 1):
        clock.advance(step)
        door.record(**draft())

    stamps = [memory["created_at"] for memory in door.search(sort="created_at")["items"]]

    assert stamps == [
        "2026-04-06T14:12:02.000000Z",
        "2026-04-06T14:12:01.000000Z",
        "2026-04-06T14:12:00.000001Z",
        "2026-04-06T14:12:00.000000Z",
    ]
    assert all(newer > older for newer, older in pairwise(stamps))


def untouched(door: Door) -> list[dict[str, object]]:
    """Return every memory as it is, through an operation that marks none as accessed."""
    return [door.revise(memory_id) for memory_id in range(1, 8)]


@pytest.mark.parametrize("q", ["b\ufffec", "b\uffffc", "b\ufffdc"])
def test_characters_that_an_index_takes_for_one_another_are_told_apart(door: Door, q: str) -> None:
    for content in ("ab\ufffecd", "ab\uffffcd", "ab\ufffdcd"):
        door.record(content=content, tags=["t"])

    page = door.search(q=q)

    assert (page["total"], len(page["items"]), page["has_more"]) == (1, 1, False)
    assert q in page["items"][0]["content"]

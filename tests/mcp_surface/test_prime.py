"""The start of a session: two pages that fit a budget."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.client import Client

from clock import Clock
from doors import HttpDoor, Page, Refused, draft, ids, pages
from http_client import SocketClient
from local.identity import AGENT, principal_for
from mcp_door import McpDoor, texts_of
from mcp_server.server import build_server
from memories.service import MemoryService
from memories.stores.port import Store
from memories.stores.sqlite import SqliteStore

KINDS = {"preferences": "preference", "identities": "identity"}

LOCAL = principal_for(AGENT)


def prime(mcp: McpDoor, **query: Any) -> dict[str, Page]:
    return mcp.call("prime_memory_context", query)


def accessed(store: Store, most: int) -> set[int]:
    """Return the ids, of those up to ``most``, whose memories were ever accessed."""
    records = [store.get(LOCAL, memory_id) for memory_id in range(1, most + 1)]
    return {record.id for record in records if record and record.last_accessed_at}


def test_nothing_stored_is_two_empty_pages_and_nothing_left_out(mcp: McpDoor) -> None:
    empty = {"items": [], "total": 0, "limit": 10, "offset": 0, "has_more": False}

    result = mcp.result("prime_memory_context", {})

    assert result.structured_content == {"preferences": empty, "identities": empty}
    assert len(texts_of(result)) == 1


def test_it_returns_active_preferences_and_identities_last_updated_first(
    mcp: McpDoor, store: Store, clock: Clock
) -> None:
    for memory_type in ("preference", "identity", "fact", "event") * 2:
        mcp.record(**draft(memory_type=memory_type))
        clock.advance()
    mcp.record(**draft(memory_type="preference", status="invalid"))
    mcp.retire(mcp.record(**draft(memory_type="identity"))["id"])
    mcp.revise(1, content="Likes coffee")
    now = clock.advance()

    context = prime(mcp)

    assert ids(context["preferences"]) == [1, 5]
    assert ids(context["identities"]) == [6, 2]
    for name, memory_type in KINDS.items():
        page = context[name]
        assert (page["total"], page["limit"], page["has_more"]) == (2, 10, False)
        for memory in page["items"]:
            assert (memory["memory_type"], memory["status"]) == (memory_type, "active")
            assert memory["last_accessed_at"] == now
    assert accessed(store, 10) == {1, 2, 5, 6}


def test_its_filters_are_those_of_a_search(mcp: McpDoor, clock: Clock) -> None:
    for number in range(6):
        mcp.record(content=f"Tea {number}", tags=["a"], memory_type="preference")
        clock.advance()
    mcp.record(content="Tea", tags=["b"], memory_type="identity")
    mcp.record(content="Name", tags=["a"], memory_type="identity")

    def found(**query: Any) -> tuple[list[int], list[int]]:
        context = prime(mcp, **query)
        return ids(context["preferences"]), ids(context["identities"])

    assert found(tag="b") == ([], [7])
    assert found(tag="a", limit=2) == ([6, 5], [8])
    assert found(q="TEA", offset=4) == ([2, 1], [])
    assert found(sort="id", limit=3) == ([1, 2, 3], [7, 8])
    assert found(sort="created_at", limit=1, offset=1) == ([5], [7])


@pytest.mark.parametrize("name", ["status", "memory_type"])
def test_what_it_is_for_cannot_be_changed(mcp: McpDoor, name: str) -> None:
    with pytest.raises(Refused) as refused:
        prime(mcp, **{name: "fact" if name == "memory_type" else "invalid"})

    assert refused.value.where == [name]


def test_what_is_left_out_is_said_with_the_search_that_goes_on(mcp: McpDoor) -> None:
    for number in range(12):
        mcp.record(content=f"Tea {number}", tags=['say "hi"'], memory_type="preference")
    mcp.record(content="Coffee", tags=["other"], memory_type="preference")

    query = {"tag": 'say "hi"', "q": "tea", "limit": 5, "sort": "id"}
    _, said = texts_of(mcp.result("prime_memory_context", query))

    assert said == (
        "7 of 12 preferences left out; go on at offset 5 of search_memories("
        r'status="active", memory_type="preference", tag="say \"hi\"", q="tea", sort="id")'
    )
    rest = mcp.search(
        status="active", memory_type="preference", **query | {"offset": 5, "limit": 100}
    )
    assert ids(rest) == list(range(6, 13))


def test_a_memory_larger_than_the_budget_is_left_out_whole_and_not_accessed(
    mcp: McpDoor, store: Store, clock: Clock
) -> None:
    mcp.record(**draft("small", memory_type="preference"))
    clock.advance()
    mcp.record(**draft("x" * 8000, memory_type="preference"))

    result = mcp.result("prime_memory_context", {"max_chars": 1000})

    assert result.structured_content
    page = result.structured_content["preferences"]
    assert (page["items"], page["total"], page["has_more"]) == ([], 2, True)
    assert texts_of(result)[1].startswith("2 of 2 preferences left out; go on at offset 0 ")
    assert accessed(store, 2) == set()


contents = st.builds(
    lambda part, times: (part * times)[:8000] or part,
    st.sampled_from(["x", '"', "\\\n", "太", "\U0001f9e0", "a word "]),
    st.integers(1, 4000),
)
memories = st.lists(
    st.tuples(st.sampled_from(["preference", "identity", "fact"]), contents), max_size=14
)
queries = st.fixed_dictionaries(
    {
        "max_chars": st.integers(1000, 30_000),
        "limit": st.integers(1, 120),
        "offset": st.one_of(st.integers(0, 3), st.just(2**63 - 1)),
        "sort": st.sampled_from(["id", "updated_at", "last_accessed_at"]),
    }
)


@settings(max_examples=40, deadline=None)
@given(stored=memories, query=queries)
def test_the_answer_never_outgrows_its_budget_and_stays_true(
    portal: BlockingPortal, stored: list[tuple[str, str]], query: dict[str, Any]
) -> None:
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder, "memories.db"))
        server = build_server(MemoryService(store, Clock()), lambda _: principal_for("test"))
        with portal.wrap_async_context_manager(Client(server)) as client:
            mcp = McpDoor(portal, client)
            for memory_type, content in stored:
                mcp.record(**draft(content, memory_type=memory_type))
            wanted = expected(stored, query)

            result = mcp.result("prime_memory_context", query)

            text, *said = texts_of(result)
            context = result.structured_content
            assert context
            returned = {n for name in KINDS for n in ids(context[name])}
            assert accessed(store, len(stored)) == returned
        store.close()

    assert len(text) <= query["max_chars"]
    end_of = {name: query["offset"] + len(context[name]["items"]) for name in KINDS}
    for name, matches in wanted.items():
        page = context[name]
        # A page is cut at its end, never in its middle.
        on_page = matches[query["offset"] :][: min(query["limit"], 100)]
        assert ids(page) == on_page[: len(page["items"])]
        assert page["total"] == len(matches)
        assert page["has_more"] == (end_of[name] < len(matches))
        left_out = len(matches) - end_of[name]
        if left_out > 0:
            start = f"{left_out} of {len(matches)} {name} left out; go on at offset {end_of[name]} "
            assert any(each.startswith(start) for each in said)
    assert len(said) == sum(page["has_more"] for page in context.values())
    if query["max_chars"] >= 260 + sum(len(content) * 2 + 260 for _, content in stored):
        assert returned == {
            n
            for matches in wanted.values()
            for n in matches[query["offset"] :][: min(query["limit"], 100)]
        }


def expected(stored: list[tuple[str, str]], query: dict[str, Any]) -> dict[str, list[int]]:
    """Return the ids of all matches in order; all were stored at one time, and none accessed."""
    order = 1 if query["sort"] == "id" else -1
    return {
        name: [n for n, (kind, _) in enumerate(stored, 1) if kind == memory_type][::order]
        for name, memory_type in KINDS.items()
    }


def test_counting_by_list_by_search_and_by_prime_gives_the_same_set(
    mcp: McpDoor, socket_client: SocketClient
) -> None:
    for number in range(30):
        memory_type = ("preference", "identity", "fact")[number % 3]
        mcp.record(content=f"Memory {number}", tags=["even", "odd"][number % 2 : number % 2 + 1])
        mcp.revise(number + 1, memory_type=memory_type)
    mcp.revise(1, status="invalid")
    mcp.retire(2)
    http = HttpDoor(socket_client)

    for filters in ({}, {"tag": "even"}, {"q": "memory 1"}, {"tag": "odd", "q": "2"}):
        for name, memory_type in KINDS.items():
            query = {"status": "active", "memory_type": memory_type, "limit": 3, **filters}
            listed = [n for page in pages(http, **query) for n in ids(page)]
            searched = [n for page in pages(mcp, **query) for n in ids(page)]
            primed: list[int] = []
            more = True
            while more:
                page = prime(mcp, sort="id", limit=3, offset=len(primed), **filters)[name]
                assert page["total"] == len(listed)
                primed += ids(page)
                more = page["has_more"]
            assert listed == searched == primed


def test_one_long_memory_is_returned_and_leaves_the_other_page_the_rest(mcp: McpDoor) -> None:
    mcp.record(content="short", tags=["t"], memory_type="preference")
    mcp.record(content='"k":"v"\n' * 1_000, tags=["t"], memory_type="preference")
    mcp.record(content="who", tags=["t"], memory_type="identity")

    context = prime(mcp)

    assert ids(context["preferences"]) == [2]
    assert context["preferences"]["has_more"] is True
    assert ids(context["identities"]) == [3]

"""Contract section 5: the user's agents, and the user."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents import ClientOf, path_of
from clock import Clock
from doors import Door, draft
from http_client import HttpClient, SocketClient
from memories.principal import ADMIN, MAX_NAME_LENGTH, READ, WRITE

ODD = [
    "a/b",
    "a#b",
    "a%2Fb",
    "a~2Fb",
    "50%",
    "~",
    "a b",
    "a?b=c&d",
    "..",
    "🧠" * MAX_NAME_LENGTH,
    "https://app.example/client.json",
    "AGENT#a",
    "a\nb",
    "Zoe\u0308",
    "Zo\u00eb",
    "\\",
    '"quoted"',
]


def agent_ids(client: HttpClient, query: str = "?limit=100") -> list[str]:
    return [agent["agent_id"] for agent in client.send("GET", f"/agents{query}").body["items"]]


@pytest.mark.onward
def test_an_agent_is_registered_by_whatever_it_asks_for_first(
    door_of: Callable[[str], Door], client: HttpClient, clock: Clock
) -> None:
    client.send("GET", "/me")
    first = clock.now
    clock.advance()
    door_of("Zoë/#%🧠").search()

    second = clock.now
    clock.advance()
    door_of("Zoë/#%🧠").record(**draft())

    assert client.send("GET", "/agents").body == {
        "items": [
            {"agent_id": "local", "name": None, "capabilities": [], "created_at": first},
            {"agent_id": "Zoë/#%🧠", "name": None, "capabilities": [], "created_at": second},
        ],
        "total": 2,
        "limit": 10,
        "offset": 0,
        "has_more": False,
    }


@pytest.mark.parametrize(
    ("method", "target", "body", "status"),
    [
        ("GET", "/memories/7", None, 404),
        ("GET", "/memories/x", None, 422),
        ("POST", "/memories", {}, 422),
        ("POST", "/memories", draft(), 403),
    ],
)
def test_also_by_what_is_refused(
    client_of: ClientOf, method: str, target: str, body: object, status: int
) -> None:
    assert client_of("new", scopes=READ).send(method, target, body).status == status
    assert agent_ids(client_of()) == ["local", "new"]


@pytest.mark.onward
def test_agents_come_by_pages(client_of: ClientOf, clock: Clock) -> None:
    for agent in ("c", "a", "b"):
        client_of(agent).send("GET", "/agents")
    clock.advance()
    client_of("0").send("GET", "/agents")

    first = client_of("a").send("GET", "/agents?limit=3").body
    second = client_of("a").send("GET", "/agents?limit=3&offset=3").body

    assert [agent["agent_id"] for agent in first["items"] + second["items"]] == ["a", "b", "c", "0"]
    assert (first["total"], first["has_more"]) == (4, True)
    assert (second["total"], second["has_more"], second["offset"]) == (4, False, 3)
    assert agent_ids(client_of("a"), "?offset=9") == []


@pytest.mark.parametrize("query", ["?limit=0", "?limit=x", "?offset=-1", "?sort=id", "?limit="])
def test_a_query_of_another_form_is_422(client: HttpClient, query: str) -> None:
    assert client.send("GET", f"/agents{query}").status == 422


def test_an_agent_describes_itself(client_of: ClientOf, clock: Clock) -> None:
    seen = clock.now
    described = {"name": "Notes", "capabilities": ["summarise", "translate", "summarise"]}
    client = client_of("notes", scopes=f"{READ} {WRITE}")

    answer = client.send("PUT", "/agents/notes", described)

    assert (answer.status, answer.body) == (
        200,
        {
            "agent_id": "notes",
            "name": "Notes",
            "capabilities": ["summarise", "translate"],
            "created_at": seen,
        },
    )
    clock.advance()
    assert client.send("GET", "/agents/notes").body == answer.body
    assert client.send("PUT", "/agents/notes", {}).body == answer.body | {
        "name": None,
        "capabilities": [],
    }


def test_another_agent_is_described_by_an_administrator(client_of: ClientOf, clock: Clock) -> None:
    writer = client_of("writer", scopes=f"{READ} {WRITE}")
    refused = writer.send("PUT", "/agents/other", {"name": "Mine"})
    assert refused.status == 403
    assert refused.body == {"detail": f"This needs the scope {ADMIN}"}
    assert writer.send("GET", "/agents/other").status == 404

    answer = client_of("admin").send("PUT", "/agents/other", {"name": "Other"})

    assert (answer.status, answer.body["created_at"]) == (200, clock.now)
    assert agent_ids(writer) == ["admin", "other", "writer"]


def test_a_reader_describes_nobody(client_of: ClientOf) -> None:
    assert client_of("a", scopes=READ).send("PUT", "/agents/a", {}).status == 403
    assert client_of("a", scopes=WRITE).send("GET", "/agents").status == 403
    assert client_of("a", scopes=WRITE).send("GET", "/agents/a").status == 403


def test_an_agent_that_there_is_not_is_404(client: HttpClient) -> None:
    answer = client.send("GET", "/agents/nobody")

    assert (answer.status, answer.body) == (404, {"detail": "Agent not found"})


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": " "},
        {"name": "x" * 129},
        {"name": None},
        {"name": 7},
        {"name": "a\x00"},
        {"capabilities": "all"},
        {"capabilities": [""]},
        {"capabilities": ["x" * 65]},
        {"capabilities": ["x"] * 33},
        {"capabilities": None},
        {"agent_id": "other"},
        {"created_at": "2026-04-06T14:12:00.000000Z"},
        [],
    ],
)
def test_a_description_that_breaks_a_rule_is_422(client: HttpClient, body: object) -> None:
    assert client.send("PUT", "/agents/local", body).status == 422
    assert client.send("GET", "/agents/local").body["name"] is None


def test_users_do_not_see_each_others_agents(client_of: ClientOf) -> None:
    client_of("one", user="a").send("PUT", "/agents/one", {"name": "One"})
    other = client_of("two", user="a#")

    assert agent_ids(other) == ["two"]
    assert other.send("GET", "/agents/one").status == 404
    assert other.send("GET", "/me").body["agents"] == 1


def test_odd_ids_are_agents_of_their_own(client_of: ClientOf) -> None:
    for agent in ODD:
        client_of(agent).send("PUT", path_of(agent), {"name": str(ODD.index(agent))})

    reader = client_of(ODD[0])
    assert sorted(agent_ids(reader)) == sorted(ODD)
    for agent in ODD:
        found = reader.send("GET", path_of(agent)).body
        assert (found["agent_id"], found["name"]) == (agent, str(ODD.index(agent)))


@pytest.mark.parametrize("agent", ODD)
def test_an_odd_id_goes_through_a_socket_too(url: str, agent: str, client_of: ClientOf) -> None:
    client_of(agent).send("GET", "/agents")
    client = SocketClient(url)
    assert client.send("GET", path_of(agent)).body["agent_id"] == agent
    client.client.close()


@pytest.mark.parametrize(
    ("segment", "agent"),
    [
        ("a%20b", "a b"),
        ("a%23b", "a#b"),
        ("a:b@c", "a:b@c"),
        ("%F0%9F%A7%A0", "🧠"),
        ("%7E7E", "~"),
        ("~e4~ba~ba", "人"),
    ],
)
def test_what_is_percent_encoded_means_itself(client: HttpClient, segment: str, agent: str) -> None:
    client.send("PUT", path_of(agent), {"name": "Found"})
    assert client.send("GET", f"/agents/{segment}").body["agent_id"] == agent


@pytest.mark.parametrize(
    "segment",
    [
        "a%25b",
        "a%3Fb",
        "~",
        "a~2",
        "a~xx",
        "~ff",
        "%00",
        "~00",
        "%20",
        "~20",
        "a" * 257,
        "~ED~A0~80",
    ],
)
def test_a_segment_that_is_no_id_is_422(client: HttpClient, segment: str) -> None:
    for method, body in (("GET", None), ("PUT", {})):
        answer = client.send(method, f"/agents/{segment}", body)
        assert (answer.status, answer.body["detail"][0]["loc"]) == (422, ["path", "agent_id"])


def test_the_user_is_told_what_is_kept(client: HttpClient, clock: Clock) -> None:
    seen = clock.now
    client.send("POST", "/memories/batch", [draft()] * 3)
    client.send("PATCH", "/memories/2", {"status": "invalid"})
    client.send("DELETE", "/memories/3")
    clock.advance()

    answer = client.send("GET", "/me")

    assert (answer.status, answer.body) == (
        200,
        {
            "user_id": "local",
            "created_at": seen,
            "metadata": {},
            "memories": {"active": 1, "invalid": 1, "deleted": 1},
            "agents": 1,
        },
    )


def test_counting_marks_nothing_as_accessed(client: HttpClient) -> None:
    client.send("POST", "/memories", draft())
    client.send("GET", "/me")
    memory = client.send("GET", "/memories?view=full").body["items"][0]
    assert memory["access_count"] == 1


def test_what_an_agent_may_not_see_is_not_counted_for_it(client_of: ClientOf) -> None:
    maker = client_of("maker")
    maker.send("POST", "/memories", draft())
    maker.send("POST", "/memories", draft(is_public=False))
    maker.send("POST", "/memories", draft(is_public=False, shared_with_agents=["listed"]))

    counts = {
        agent: client_of(agent).send("GET", "/me").body["memories"]["active"]
        for agent in ("maker", "listed", "other")
    }

    assert counts == {"maker": 3, "listed": 2, "other": 1}


def test_metadata_is_merged_and_null_removes(client: HttpClient) -> None:
    client.send("PATCH", "/me", {"metadata": {"locale": "de-DE", "zone": "Europe/Berlin"}})

    answer = client.send("PATCH", "/me", {"metadata": {"zone": None, "empty": "", "gone": None}})

    assert answer.status == 200
    assert answer.body["metadata"] == {"locale": "de-DE", "empty": ""}
    assert client.send("PATCH", "/me", {}).body == answer.body
    assert client.send("GET", "/me").body == answer.body


def test_metadata_has_a_most(client: HttpClient) -> None:
    full = {f"{n:064}": "🧠" * 1_000 for n in range(50)}
    assert client.send("PATCH", "/me", {"metadata": full}).body["metadata"] == full

    for metadata in ({"one": "more"}, {f"new {n}": "" for n in range(51)}):
        answer = client.send("PATCH", "/me", {"metadata": metadata})
        assert (answer.status, answer.body["detail"][0]["loc"][:2]) == (422, ["body", "metadata"])
    instead = {"one": "more", f"{7:064}": None}
    assert client.send("PATCH", "/me", {"metadata": instead}).status == 200


@pytest.mark.parametrize(
    "body",
    [
        {"metadata": {"": "x"}},
        {"metadata": {" ": "x"}},
        {"metadata": {"x" * 65: "x"}},
        {"metadata": {"a\x00": "x"}},
        {"metadata": {"a": "x" * 1_001}},
        {"metadata": {"a": 1}},
        {"metadata": {"a": {"b": "c"}}},
        {"metadata": None},
        {"metadata": []},
        {"user_id": "other"},
    ],
)
def test_metadata_that_breaks_a_rule_is_422(client: HttpClient, body: object) -> None:
    assert client.send("PATCH", "/me", body).status == 422
    assert client.send("GET", "/me").body["metadata"] == {}


def test_metadata_is_for_those_who_may_write(client_of: ClientOf) -> None:
    client_of().send("PATCH", "/me", {"metadata": {"a": "b"}})
    assert client_of(scopes=READ).send("PATCH", "/me", {"metadata": {"a": "c"}}).status == 403
    assert client_of(scopes=WRITE).send("GET", "/me").status == 403
    assert client_of(scopes=READ).send("GET", "/me").body["metadata"] == {"a": "b"}
    assert client_of(user="other").send("GET", "/me").body["metadata"] == {}


def test_a_user_is_as_old_as_its_first_memory(
    door_of: Callable[[str], Door], client: HttpClient, clock: Clock
) -> None:
    seen = clock.now
    door_of("first").record(**draft())
    clock.advance(3_600)
    client.send("PATCH", "/me", {"metadata": {"a": "b"}})
    clock.advance(3_600)
    assert client.send("GET", "/me").body["created_at"] == seen


names = st.text(
    st.one_of(
        st.sampled_from("#/%~ ?.🧠é\u0301\n"),
        st.characters(exclude_categories=["Cs", "Cc"]),
    ),
    min_size=1,
    max_size=12,
).filter(lambda name: bool(name.strip()))


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.tuples(names, names, names, names))
def test_whatever_users_and_agents_are_called_they_do_not_meet(
    client_of: ClientOf, called: tuple[str, str, str, str]
) -> None:
    user, other_user, agent, other_agent = called
    for user_id in {user, other_user}:
        for agent_id in {agent, other_agent}:
            client = client_of(agent_id, user=user_id)
            answer = client.send("PUT", path_of(agent_id), {"name": (user_id + agent_id)[:128]})
            assert (answer.status, answer.body["agent_id"]) == (200, agent_id)
    for user_id in {user, other_user}:
        client = client_of(agent, user=user_id)
        assert client.send("GET", "/me").body["user_id"] == user_id
        for agent_id in {agent, other_agent}:
            found = client.send("GET", path_of(agent_id)).body
            assert (found["agent_id"], found["name"]) == (agent_id, user_id + agent_id)

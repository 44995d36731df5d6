"""Contract section 5: what erasing a user, or an agent, leaves behind, which is nothing of it."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from agents import ClientOf, path_of
from clock import Clock
from doors import draft
from http_client import HttpClient
from memories.principal import ADMIN, READ, WRITE
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.port import Store

SECRET = "the treasure is under the oak"


@pytest.fixture
def on_dynamodb(store: Store) -> bool:
    return isinstance(store, DynamoDBStore)


@pytest.fixture
def left(
    on_dynamodb: bool, request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[[], list[str]]:
    """Returns all that the store holds, item by item or row by row."""

    def items() -> list[str]:
        client: DynamoDBClient = request.getfixturevalue("dynamodb_client")
        pages = client.get_paginator("scan").paginate(TableName=request.getfixturevalue("table"))
        return [repr(item) for page in pages for item in page["Items"]]

    def rows() -> list[str]:
        found: list[str] = []
        with sqlite3.connect(tmp_path / "memories.db") as connection:
            tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            for (table,) in tables.fetchall():
                if not table.startswith(("memory_search_", "sqlite_")) and table != "memory_search":
                    found += map(repr, connection.execute(f"SELECT * FROM {table}"))
            connection.execute(
                "CREATE VIRTUAL TABLE temp.terms USING fts5vocab (main, memory_search, row)"
            )
            found += map(repr, connection.execute("SELECT * FROM temp.terms"))
        connection.close()
        return found

    return items if on_dynamodb else rows


def erased(client: HttpClient, target: str) -> dict[str, Any]:
    """Repeat the request until it is complete, and return the receipt."""
    while (answer := client.send("DELETE", target)).status == 202:
        assert answer.body["complete"] is False
        assert answer.body["finished_at"] is None
    assert (answer.status, answer.body["complete"]) == (200, True)
    receipt: dict[str, Any] = answer.body
    return receipt


def counts(receipt: dict[str, Any]) -> tuple[int, int, int]:
    numbers = receipt["erased"]
    return numbers["memories"], numbers["agents"], numbers["relations"]


def relate(client: HttpClient, one: int, other: int, relation_type: str = "follows") -> None:
    assert client.send("PUT", f"/memories/{one}/relations/{relation_type}/{other}", {}).status < 300


def record(client: HttpClient, number: int, **fields: Any) -> list[int]:
    ids: list[int] = []
    for start in range(0, number, 25):
        drafts = [
            draft(f"{SECRET} {n}", tags=[f"tag {n}", "all"], **fields)
            for n in range(start, min(start + 25, number))
        ]
        ids += [each["id"] for each in client.send("POST", "/memories/batch", drafts).body]
    return ids


def test_of_a_user_with_1001_memories_nothing_is_left(
    client_of: ClientOf,
    left: Callable[[], list[str]],
    clock: Clock,
    tmp_path: Path,
    on_dynamodb: bool,
) -> None:
    maker, other = client_of("maker"), client_of("Zoë/#%🧠")
    ids = record(maker, 1_001)
    other.send("POST", "/memories", draft(SECRET, is_public=False, shared_with_agents=["maker"]))
    for one, two in zip(ids[::100], ids[1::100], strict=False):
        relate(maker, one, two)
    maker.send("DELETE", "/memories/3")
    maker.send("PATCH", "/me", {"metadata": {"treasure": SECRET}})
    maker.send("PUT", "/agents/third", {"name": SECRET})
    started = clock.now

    first = maker.send("DELETE", "/me")
    clock.advance()

    assert first.status == 202
    some = first.body["erased"]["memories"]
    assert 0 < some < 1_002
    assert first.body["finished_at"] is None
    receipt = erased(maker, "/me")
    logged = receipt["erased"].pop("log_entries")
    assert receipt == {
        "user_id": "local",
        "agent_id": None,
        "complete": True,
        "erased": {"memories": 1_002, "agents": 3, "relations": 10},
        "started_at": started,
        "finished_at": clock.now,
    }
    # The stream, which the log is written from, does not run here.
    assert logged == (0 if on_dynamodb else 10)
    assert left() == []
    for file in tmp_path.iterdir():
        assert b"treasure" not in file.read_bytes()


def test_what_is_others_stays(client_of: ClientOf) -> None:
    others = [client_of(user=user) for user in ("loca", "local#", "LOCAL", "local#1")]
    for other in others:
        record(other, 2)
        relate(other, 1, 2)
    record(client_of(), 3)

    before = [other.send("GET", "/me").body for other in others]
    assert counts(erased(client_of(), "/me")) == (3, 1, 0)

    assert [other.send("GET", "/me").body for other in others] == before
    for other in others:
        assert other.send("GET", "/memories/1/relations").body["total"] == 1
        assert other.send("GET", "/memories?q=oak").body["total"] == 2


def test_a_user_begins_anew_after_it(client_of: ClientOf, clock: Clock) -> None:
    client = client_of()
    record(client, 2)
    client.send("PATCH", "/me", {"metadata": {"a": "b"}})
    erased(client, "/me")
    clock.advance()

    assert client.send("GET", "/me").body == {
        "user_id": "local",
        "created_at": clock.now,
        "metadata": {},
        "memories": {"active": 0, "invalid": 0, "deleted": 0},
        "agents": 1,
    }
    assert record(client, 1) == [1]
    assert client.send("GET", "/memories?q=oak&tag=all").body["total"] == 1


def test_to_erase_nothing_is_complete_at_once(client: HttpClient) -> None:
    for _ in range(2):
        answer = client.send("DELETE", "/me")
        assert (answer.status, counts(answer.body)) == (200, (0, 0, 0))


@pytest.mark.parametrize("agent", ["maker", "Zoë/#%🧠", "🧠" * 256])
def test_an_agent_goes_with_what_it_made(client_of: ClientOf, agent: str) -> None:
    maker, other = client_of(agent), client_of("other")
    mine = [record(maker, 1)[0] for _ in range(2)]
    theirs = record(other, 2, shared_with_agents=[agent])
    hidden = record(maker, 1, is_public=False)
    relate(maker, mine[0], mine[1])
    relate(maker, mine[0], theirs[0])
    relate(other, theirs[1], mine[1])
    relate(other, theirs[0], theirs[1])

    receipt = erased(other, path_of(agent))

    assert receipt["agent_id"] == agent
    assert counts(receipt) == (3, 1, 3)
    for memory_id in [*mine, *hidden]:
        assert other.send("GET", f"/memories/{memory_id}").status == 404
    assert other.send("GET", path_of(agent)).body == {"detail": "Agent not found"}
    assert [each["id"] for each in other.send("GET", "/memories?q=oak").body["items"]] == theirs
    for memory_id in theirs:
        found = other.send("GET", f"/memories/{memory_id}/relations?direction=both").body
        assert found["total"] == 1
    # Whom the other shares with is the other's to say.
    granted = other.send("GET", f"/memories/{theirs[0]}/permissions").body
    assert granted["shared_with_agents"] == [agent]
    assert other.send("GET", "/me").body["agents"] == 1


def test_an_agent_that_is_erased_twice_is_not_found(client_of: ClientOf) -> None:
    client_of("maker").send("GET", "/me")
    admin = client_of("admin")
    assert counts(erased(admin, "/agents/maker")) == (0, 1, 0)

    answer = admin.send("DELETE", "/agents/maker")

    assert (answer.status, answer.body) == (404, {"detail": "Agent not found"})
    assert client_of("maker").send("GET", "/agents/maker").status == 200


def test_an_agent_may_erase_itself(client_of: ClientOf, clock: Clock) -> None:
    created = client_of("first").send("GET", "/me").body["created_at"]
    clock.advance()
    client = client_of("first")
    record(client, 3)

    assert counts(erased(client, "/agents/first")) == (3, 1, 0)

    me = client_of("second").send("GET", "/me").body
    assert (me["created_at"], me["agents"], me["memories"]["active"]) == (created, 1, 0)


def test_a_long_erasure_of_an_agent_finds_it_among_others(
    client_of: ClientOf, on_dynamodb: bool
) -> None:
    # More than one request erases, which on DynamoDB is half as many.
    many = 250 if on_dynamodb else 501
    maker, other = client_of("maker"), client_of("other")
    for _ in range(2):
        record(maker, many)
        record(other, 50)

    first = other.send("DELETE", "/agents/maker")
    assert (first.status, first.body["erased"]["agents"]) == (202, 0)
    assert counts(erased(other, "/agents/maker")) == (2 * many, 1, 0)
    assert other.send("GET", "/memories").body["total"] == 100
    assert other.send("GET", "/memories?q=oak").body["total"] == 100
    assert other.send("GET", "/memories?tag=tag+7").body["total"] == 2


@pytest.mark.parametrize("target", ["/me", "/agents/local", "/agents/nobody"])
@pytest.mark.parametrize("scopes", [READ, WRITE, f"{READ} {WRITE}"])
def test_only_an_administrator_erases(client_of: ClientOf, target: str, scopes: str) -> None:
    record(client_of(), 1)
    answer = client_of(scopes=scopes).send("DELETE", target)
    assert (answer.status, answer.body) == (403, {"detail": f"This needs the scope {ADMIN}"})
    assert client_of().send("GET", "/memories").body["total"] == 1


def test_another_users_agent_is_not_found(client_of: ClientOf) -> None:
    record(client_of("maker", user="one"), 1)
    assert client_of("admin", user="two").send("DELETE", "/agents/maker").status == 404
    assert client_of("maker", user="one").send("GET", "/memories").body["total"] == 1

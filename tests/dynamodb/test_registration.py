"""What the registration of agents costs on DynamoDB, and what its failures do."""

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.calls import LOST, failing, recorded
from http_api.app import Handler
from http_client import EventClient, claims_of
from memories.bootstrap import ATTEMPTS
from memories.stores.dynamodb.accounts import REMEMBERED, DynamoDBAccounts


@pytest.fixture
def http(handler: Handler) -> EventClient:
    return EventClient(handler, claims_of("user", "agent"))


def test_an_agent_that_is_known_costs_nothing_for_some_minutes(
    client: DynamoDBClient, http: EventClient, clock: Clock
) -> None:
    with recorded(client) as requests:
        http.send("GET", "/memories/1")
        http.send("GET", "/memories/1")
        clock.advance(REMEMBERED.total_seconds() - 1)
        http.send("GET", "/memories/1")
        clock.advance(1)
        http.send("GET", "/memories/1")
    registered, read = "UpdateItem", "UpdateItem"
    assert requests == [registered, read, read, read, registered, read]


def test_what_was_first_seen_stays(http: EventClient, clock: Clock) -> None:
    first = clock.now
    http.send("PUT", "/agents/agent", {"name": "Agent"})
    clock.advance(REMEMBERED.total_seconds())
    answer = http.send("GET", "/agents/agent").body
    assert (answer["created_at"], answer["name"]) == (first, "Agent")


def test_only_so_many_are_remembered(client: DynamoDBClient, table: str, clock: Clock) -> None:
    accounts = DynamoDBAccounts(client, table, most_remembered=2)
    with recorded(client) as requests:
        for agent in ("a", "b", "b", "c", "c", "b", "a"):
            accounts.register("user", agent, clock.now)
    assert len(requests) == 4


def test_an_agent_that_was_erased_here_is_registered_when_it_comes_again(
    http: EventClient, handler: Handler, clock: Clock
) -> None:
    http.send("GET", "/me")
    admin = EventClient(handler, claims_of("user", "admin"))
    assert admin.send("DELETE", "/agents/agent").status == 200
    clock.advance()
    http.send("GET", "/me")
    assert admin.send("GET", "/agents/agent").body["created_at"] == clock.now


@pytest.mark.parametrize("after", [False, True], ids=["before it", "its answer"])
def test_a_registration_that_fails_is_an_unavailable_store_and_is_made_again(
    client: DynamoDBClient, http: EventClient, clock: Clock, after: bool
) -> None:
    with failing(client, "UpdateItem", LOST, after=after, attempts=ATTEMPTS):
        answer = http.send("GET", "/agents")
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")

    agents = http.send("GET", "/agents").body
    assert (agents["total"], agents["items"][0]["created_at"]) == (1, clock.now)


def test_one_that_fails_once_is_not_noticed(client: DynamoDBClient, http: EventClient) -> None:
    with failing(client, "UpdateItem", LOST, after=True, attempts=1):
        assert http.send("GET", "/agents").body["total"] == 1

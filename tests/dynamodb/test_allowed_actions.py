"""The permissions of the functions: all that their code asks of DynamoDB, and nothing else."""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from doors import draft
from http_api.app import build_handler
from http_client import EventClient
from memories.bootstrap import build_service
from memories.config import Settings
from memories.stores.dynamodb import DynamoDBStore
from template import template
from unit.test_events import STATUSES, event

Actions = dict[str, set[str]]

# What only the HTTP function does.
_NOT_OVER_MCP = {"erase_agent", "erase_me"}

_EVERY_REQUEST = "before-send.dynamodb"
_IN_TRANSACTIONS = {
    "ConditionCheck": "ConditionCheckItem",
    "Delete": "DeleteItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
}


@contextmanager
def actions_asked(client: DynamoDBClient) -> Iterator[Actions]:
    """Yield the actions that requests need meanwhile, by the name of the table or index."""
    asked: Actions = defaultdict(set)

    def note(request: Any, **_: Any) -> None:
        operation = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
        body = json.loads(request.body)
        match operation:
            case "BatchExecuteStatement":
                for statement in body["Statements"]:
                    verb, table, *_ = statement["Statement"].split()
                    asked[table.strip('"')].add(f"PartiQL{verb.capitalize()}")
            case "TransactWriteItems":
                for part in body["TransactItems"]:
                    ((kind, what),) = part.items()
                    asked[what["TableName"]].add(_IN_TRANSACTIONS[kind])
            case "BatchGetItem":
                for table in body["RequestItems"]:
                    asked[table].add(operation)
            case _:
                on_index = "/index" if "IndexName" in body else ""
                asked[body["TableName"] + on_index].add(operation)

    client.meta.events.register_first(_EVERY_REQUEST, note)
    try:
        yield asked
    finally:
        client.meta.events.unregister(_EVERY_REQUEST, note)


def actions_allowed(role: str) -> Actions:
    """Return the actions that a role allows, by what they are allowed on."""
    policies = template()["Resources"][role]["Properties"]["Policies"]
    statements = [
        statement
        for policy in policies
        if policy.get("PolicyName") in {"records", "erasure"}
        for statement in policy["PolicyDocument"]["Statement"]
    ]
    allowed: Actions = defaultdict(set)
    for statement in statements:
        named = json.dumps(statement["Resource"])
        on = "keys" if "IdempotencyTable" in named else "table"
        actions = statement["Action"]
        for action in [actions] if isinstance(actions, str) else actions:
            allowed[on + ("/index" if "/index/" in named else "")].add(action.split(":")[1])
    return allowed


@pytest.mark.parametrize("role", ["HttpRole", "McpRole"])
def test_a_role_allows_what_all_operations_together_ask_for(
    client: DynamoDBClient, table: str, store: DynamoDBStore, role: str
) -> None:
    settings = Settings(user_limit=1_000, agent_limit=1_000)
    handler = build_handler(build_service(settings, store), settings)
    http = EventClient(handler)
    with actions_asked(client) as asked:
        for name, status in STATUSES.items():
            if role == "McpRole" and name in _NOT_OVER_MCP:
                continue
            assert handler(event(name), None)["statusCode"] == status, name
        # With what the examples leave out.
        for _ in range(2):
            http.send("POST", "/memories", draft(), idempotency_key="once")
        http.send("GET", "/memories?q=tea&sort=updated_at")

    by_place: Actions = defaultdict(set)
    for name, actions in asked.items():
        place = "table" if name.partition("/")[0] == table else "keys"
        by_place[place + name.removeprefix(name.partition("/")[0])] |= actions
    assert by_place == actions_allowed(role)

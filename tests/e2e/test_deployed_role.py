"""The function's role: all that its policy allows is needed, and nothing more is allowed.

The emulator lets a role do what its policies say, so an action that is taken away fails some call.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from doors import HttpDoor, Refused, draft
from e2e.deployment import Stack

pytestmark = pytest.mark.e2e

ACTIONS = [
    "dynamodb:BatchGetItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:GetItem",
    "dynamodb:PartiQLUpdate",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
]


class Policy:
    """The policy of the function's role on the table."""

    def __init__(self, stack: Stack) -> None:
        self._iam = stack.emulator.client("iam")
        self._place = {"RoleName": stack.physical_id("HttpRole"), "PolicyName": "records"}

    def read(self) -> dict[str, Any]:
        document: dict[str, Any] = self._iam.get_role_policy(**self._place)["PolicyDocument"]
        return document

    def write(self, document: dict[str, Any]) -> None:
        self._iam.put_role_policy(**self._place, PolicyDocument=json.dumps(document))


@pytest.fixture
def policy(stack: Stack) -> Iterator[Policy]:
    policy = Policy(stack)
    before = policy.read()
    yield policy
    policy.write(before)


def _everything(door: HttpDoor) -> None:
    first, second = (memory["id"] for memory in door.record_batch([draft(), draft()]))
    door.relate(first, "follows", second)
    door.relations(first)
    door.unrelate(first, "follows", second)
    memory_id = door.record(**draft("Likes tea"))["id"]
    door.search(sort="updated_at")
    door.search(q="tea")
    door.inspect(memory_id)
    door.revise(memory_id, content="Likes coffee")
    door.retire(memory_id)


def test_the_policy_names_these_actions_on_the_table_alone(stack: Stack, policy: Policy) -> None:
    on_table, on_requests, on_indexes = policy.read()["Statement"]
    assert on_table["Action"] == ACTIONS
    assert on_table["Resource"].endswith(f":table/{stack.outputs()['TableName']}")
    assert on_requests["Action"] == ["dynamodb:PutItem", "dynamodb:UpdateItem"]
    assert on_indexes["Action"] == "dynamodb:Query"
    assert on_indexes["Resource"] == f"{on_table['Resource']}/index/*"


# The emulator does not ask for the one of statements.
@pytest.mark.parametrize("action", [each for each in ACTIONS if "PartiQL" not in each])
def test_each_action_on_the_table_is_needed(door: HttpDoor, policy: Policy, action: str) -> None:
    _everything(door)
    document = policy.read()
    document["Statement"][0]["Action"].remove(action)
    policy.write(document)
    with pytest.raises(Refused) as refused:
        _everything(door)
    assert refused.value.kind == "unavailable"


def test_querying_the_indexes_is_needed(door: HttpDoor, policy: Policy) -> None:
    document = policy.read()
    del document["Statement"][-1]
    policy.write(document)
    with pytest.raises(Refused) as refused:
        _everything(door)
    assert refused.value.kind == "unavailable"

"""The events in ``events/``: each is one that the handler answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from http_api.app import Handler
from http_api.operations import OPERATIONS

EVENTS = Path(__file__).parents[2] / "events"

# In the order of a memory's life: the later ones ask for the memory that the first records.
STATUSES = {
    "record_memory": 201,
    "record_batch": 201,
    "search_memories": 200,
    "inspect_memory": 200,
    "revise_memory": 200,
    "get_permissions": 200,
    "put_permissions": 200,
    "list_tags": 200,
    "put_relation": 201,
    "list_relations": 200,
    "delete_relation": 200,
    "get_access_log": 200,
    "retire_memory": 200,
    "export_memories": 200,
    "import_memories": 200,
    "list_agents": 200,
    "get_agent": 200,
    "put_agent": 200,
    "get_me": 200,
    "revise_me": 200,
    "erase_agent": 200,
    "erase_me": 200,
    "health": 200,
    "ready": 200,
    "openapi": 200,
    "docs": 200,
}

# Those of the other functions, which their own tests read.
OTHER_TRIGGERS = {"lifecycle", "stream"}


def event(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return loaded


def test_every_event_is_answered_as_meant(handler: Handler) -> None:
    answers = {name: handler(event(name), None) for name in STATUSES}

    assert {name: answer["statusCode"] for name, answer in answers.items()} == STATUSES
    assert json.loads(answers["search_memories"]["body"])["total"] == 1
    assert json.loads(answers["revise_memory"]["body"])["version"] == 2


def test_there_is_an_event_for_every_operation_and_no_other() -> None:
    assert {path.stem for path in EVENTS.glob("*.json")} == STATUSES.keys() | OTHER_TRIGGERS
    for operation in OPERATIONS:
        assert any(
            operation.method == each["requestContext"]["http"]["method"]
            and operation.pattern.fullmatch(each["rawPath"])
            for each in map(event, STATUSES)
        ), operation.path


@pytest.mark.parametrize("name", [name for name in STATUSES if name != "health"])
def test_without_its_claims_an_event_is_refused_or_asks_for_nothing_stored(
    handler: Handler, name: str
) -> None:
    anonymous = event(name)
    del anonymous["requestContext"]["authorizer"]
    open_ones = {"ready", "openapi", "docs"}
    assert handler(anonymous, None)["statusCode"] == (200 if name in open_ones else 401)

"""An update of the stack in place: new code and settings serve the old data."""

import pytest

from doors import HttpDoor, draft, ids
from e2e.deployment import Project, Stack
from e2e.emulator import eventually
from local.table import create_table
from template import TEMPLATE

pytestmark = pytest.mark.e2e


def test_an_update_changes_code_and_settings_and_keeps_the_data(
    stack: Stack, project: Project, own_issuer: dict[str, str], door: HttpDoor
) -> None:
    table, address = stack.physical_id("Table"), stack.caller().url
    kept = door.record(**draft("Likes tea"))

    # In what was built, since building it anew would take as long again.
    version = project.built / "SharedLayer/python/memories/__init__.py"
    version.write_text('"""The next version."""\n\n__version__ = "999.0.0"\n')
    project.deploy(stack.name, **own_issuer, Tracing="Active")

    assert (stack.physical_id("Table"), stack.caller().url) == (table, address)
    assert door.search()["items"][0]["content"] == kept["content"]
    assert door.record(**draft("Likes coffee"))["id"] == kept["id"] + 1
    description = door.client.send("GET", "/openapi.json").body
    assert description["info"]["version"] == "999.0.0"
    assert eventually(lambda: _traced_lines(stack), seconds=10)


def test_a_stack_can_serve_from_a_restored_table(
    stack: Stack, project: Project, own_issuer: dict[str, str], door: HttpDoor
) -> None:
    kept = door.record(**draft("Likes tea"))
    _restore(stack, "restored")
    lost = door.record(**draft("Written after the backup"))

    project.deploy(stack.name, **own_issuer, RestoredTable="restored")

    assert stack.outputs()["TableName"] == "restored"
    assert ids(door.search()) == [kept["id"]]
    assert door.revise(kept["id"], content="Likes coffee")["version"] == 2
    # The counter was restored too: it goes on from where it was then.
    assert door.record(**draft())["id"] == lost["id"]


def _restore(stack: Stack, name: str) -> None:
    """Make a table as a restore makes it: like the stack's own, with what is in that."""
    client = stack.emulator.client("dynamodb")
    create_table(client, name, TEMPLATE)
    for page in client.get_paginator("scan").paginate(TableName=stack.physical_id("Table")):
        for item in page["Items"]:
            client.put_item(TableName=name, Item=item)


def _traced_lines(stack: Stack) -> list[str]:
    return [line["route"] for line in stack.json_lines() if "xray_trace_id" in line]

"""An update of the stack in place: new code and settings serve the old data."""

import httpx
import pytest

from doors import HttpDoor, draft
from e2e.deployment import Project, Stack

pytestmark = pytest.mark.e2e

ORIGIN = "https://app.example"


def test_an_update_changes_code_and_settings_and_keeps_the_data(
    stack: Stack, project: Project, own_issuer: dict[str, str], door: HttpDoor
) -> None:
    table, address = stack.physical_id("Table"), stack.caller().url
    kept = door.record(**draft("Likes tea"))
    assert _preflight(stack).status_code == 403

    version = project.directory / "shared/memories/__init__.py"
    version.write_text('"""The next version."""\n\n__version__ = "999.0.0"\n')
    project.build()
    project.deploy(stack.name, **own_issuer, AllowedOrigins=ORIGIN, Tracing="Active")

    assert (stack.physical_id("Table"), stack.caller().url) == (table, address)
    assert door.search()["items"][0]["content"] == kept["content"]
    assert door.record(**draft("Likes coffee"))["id"] == kept["id"] + 1
    description = door.client.send("GET", "/openapi.json").body
    assert description["info"]["version"] == "999.0.0"
    assert _preflight(stack).headers["access-control-allow-origin"] == ORIGIN


def _preflight(stack: Stack) -> httpx.Response:
    return httpx.options(
        f"{stack.caller().url}/memories",
        headers={"Origin": ORIGIN, "Access-Control-Request-Method": "PATCH"},
    )

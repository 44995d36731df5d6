"""The official conformance suite, against a real server process."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from foreign_clients import node, npm_home
from processes import server_on

# What any server can pass. The rest ask for tools, prompts and resources of a test server, or for
# capabilities that this one does not offer.
EVERY_REVISION = {"tools-list", "resources-list", "prompts-list"}
SCENARIOS = {
    "2025-06-18": EVERY_REVISION | {"server-initialize", "ping"},
    "2025-11-25": EVERY_REVISION | {"server-initialize", "ping", "dns-rebinding-protection"},
    "2026-07-28": EVERY_REVISION
    | {
        "dns-rebinding-protection",
        "caching",
        "sep-2164-resource-not-found",
        "http-header-validation",
        "input-required-result-unsupported-methods",
        "input-required-result-validate-input",
    },
}
UNTESTABLE = "Not testable: server does not list the diagnostic tool"

Checks = list[dict[str, Any]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Checks]:
    """The checks of each scenario, by revision and name."""
    home, folder = npm_home(), tmp_path_factory.mktemp("conformance")
    program = home / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    found = {}
    with server_on(folder / "m.db") as server:
        for revision in SCENARIOS:
            output = folder / revision
            arguments = ["--url", f"{server.url}/mcp", "--suite", "all", "--spec-version", revision]
            # Its exit code is a failure as long as one scenario fails.
            subprocess.run(
                [node(home), str(program), "server", *arguments, "--output-dir", str(output)],
                capture_output=True,
                timeout=60,
                check=False,
            )
            for path in output.glob("server-*/checks.json"):
                found[revision, scenario_of(path)] = json.loads(path.read_text(encoding="utf-8"))
    return found


def scenario_of(checks: Path) -> str:
    # The folder is server-<scenario>-<a time such as 2026-11-30T05-43-50-423Z>.
    return checks.parent.name.removeprefix("server-")[: -len("-2026-11-30T05-43-50-423Z")]


def failed(checks: Checks) -> list[str]:
    return [
        f"{check['id']}: {check.get('errorMessage')}"
        for check in checks
        if check["status"] not in ("SUCCESS", "INFO")
    ]


@pytest.mark.parametrize(
    ("revision", "scenario"),
    [(revision, name) for revision, names in SCENARIOS.items() for name in sorted(names)],
)
def test_what_any_server_can_pass_passes(
    results: dict[tuple[str, str], Checks], revision: str, scenario: str
) -> None:
    checks = results[revision, scenario]

    assert failed(checks) == []
    assert sum(check["status"] == "SUCCESS" for check in checks) >= 1


def test_it_is_stateless_as_far_as_that_shows_without_a_test_server(
    results: dict[tuple[str, str], Checks],
) -> None:
    checks = results["2026-07-28", "server-stateless"]

    bad = [check for check in checks if check["status"] in ("FAILURE", "WARNING")]
    assert all(check["errorMessage"].startswith(UNTESTABLE) for check in bad)
    assert sum(check["status"] == "SUCCESS" for check in checks) >= 20


def test_every_message_is_valid_by_the_schema_of_its_revision(
    results: dict[tuple[str, str], Checks],
) -> None:
    wire = [
        check
        for checks in results.values()
        for check in checks
        if check["id"] == "wire-schema-valid"
    ]

    assert len(wire) > 50
    assert failed(wire) == []

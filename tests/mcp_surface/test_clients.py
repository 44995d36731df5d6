"""Clients that nobody here wrote: each of them lists, records, finds, revises and reads."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foreign_clients import CLIENTS, fastmcp_python, node, npm_home
from http_client import serving
from mcp_server.policy import INSTRUCTIONS, policy
from mcp_server.tools import TOOLS
from memories.service import MemoryService
from memories.stores.sqlite import SqliteStore

STDIO = [sys.executable, "-m", "local.cli", "mcp", "--data"]
EARLIER, LATEST = "2025-11-25", "2026-07-28"


@pytest.fixture(params=["stdio", "http"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[str]]:
    """How to reach a server on an empty file, as arguments of a client."""
    data = tmp_path / "m.db"
    if request.param == "stdio":
        yield ["stdio", *STDIO, str(data)]
    else:
        store = SqliteStore(data)
        with serving(MemoryService(store)) as url:
            yield ["http", f"{url}/mcp"]
        store.close()


def session(command: list[str]) -> dict[str, Any]:
    """Run a client and return what it saw."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


@pytest.mark.parametrize(
    ("script", "mode", "protocol"),
    [
        ("typescript1.mjs", "legacy", EARLIER),
        ("typescript2.mjs", "legacy", EARLIER),
        ("typescript2.mjs", "auto", LATEST),
    ],
)
def test_the_typescript_sdk_can_use_the_memory(
    target: list[str], script: str, mode: str, protocol: str
) -> None:
    home = npm_home()

    seen = session([node(home), str(home / script), mode, *target])

    assert seen["protocol"] == protocol
    assert_whole(seen)


@pytest.mark.parametrize(("mode", "protocol"), [("legacy", EARLIER), ("auto", LATEST)])
def test_fastmcp_can_use_the_memory(target: list[str], mode: str, protocol: str) -> None:
    seen = session([fastmcp_python(), str(CLIENTS / "fastmcp_client.py"), mode, *target])

    assert seen["protocol"] == protocol
    assert_whole(seen)


def assert_whole(seen: dict[str, Any]) -> None:
    assert seen["server"] == "memories"
    assert seen["tools"] == list(TOOLS)
    assert seen["instructions"] == seen["prompt"] == INSTRUCTIONS
    assert seen["policy"] == policy()

    recorded = seen["recorded"]["structured"]
    assert (recorded["id"], recorded["version"]) == (1, 1)
    assert (recorded["content"], recorded["tags"]) == ("Prefers tea \U0001f375", ["drink"])
    assert recorded["last_accessed_at"] is None

    found = seen["found"]["structured"]
    assert (found["total"], found["has_more"]) == (1, False)
    (memory,) = found["items"]
    assert memory["last_accessed_at"]
    assert memory | {"last_accessed_at": None} == recorded

    revised = seen["revised"]["structured"]
    assert (revised["content"], revised["version"]) == ("Prefers green tea", 2)
    for name in ("recorded", "found", "revised"):
        (text,) = seen[name]["texts"]
        assert (seen[name]["error"], json.loads(text)) == (False, seen[name]["structured"])

    told, current = seen["stale"]["texts"]
    assert seen["stale"]["error"] is True
    assert told.startswith("Memory is at version 2")
    assert json.loads(current) == revised
    assert seen["wrong"] == {
        "error": True,
        "texts": ["limit: must be an integer, not a string"],
        "structured": None,
    }

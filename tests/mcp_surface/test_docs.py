"""The documentation of the MCP door says what is so."""

import json
import re
from pathlib import Path

from mcp_server.policy import MEMORY, POLICY, PROMPT
from mcp_server.tools import TOOLS

TEXT = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")


def test_each_tool_resource_and_prompt_is_in_the_tables() -> None:
    named = re.findall(r"^\| `([a-z_]+)` \|", TEXT, re.MULTILINE)

    assert named == list(TOOLS)
    assert f"resource `{POLICY.uri}`" in TEXT
    assert f"resource `{MEMORY.uri_template}`" in TEXT
    assert f"prompt `{PROMPT.name}`" in TEXT


def test_each_entry_is_json_and_starts_what_there_is() -> None:
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)]
    entries = [
        entry for block in blocks for servers in block.values() for entry in servers.values()
    ]

    assert len(entries) == 4
    for entry in entries:
        if "url" in entry:
            assert entry["url"] == "http://127.0.0.1:8000/mcp"
        else:
            assert entry["command"].endswith("/.venv/bin/memories")
            assert entry["args"][:2] == ["mcp", "--data"]
            assert entry["args"][3] == "--agent"

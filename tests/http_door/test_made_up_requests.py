"""Requests that schemathesis makes up from the OpenAPI document, to a running server.

For each operation: the edges of what the document allows, and of what it does not; random requests;
and sequences of them by the document's links. No answer is a 5xx, has a status that the document
has not, or a body that its schema does not describe.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from processes import server_on

TESTS = Path(__file__).parents[1]
PROGRAM = "from schemathesis.cli import schemathesis; schemathesis()"
# For each operation, beside the edges.
EXAMPLES = 6


def test_no_request_finds_a_fault(tmp_path: Path) -> None:
    with server_on(tmp_path / "memories.db") as server:
        run = subprocess.run(
            [
                *(
                    sys.executable,
                    "-c",
                    "from schemathesis.cli import schemathesis; schemathesis()",
                ),
                *("--config-file", str(TESTS / "schemathesis.toml")),
                *("run", f"{server.url}/openapi.json"),
                *("--max-examples", str(EXAMPLES), "--generation-deterministic", "--no-color"),
                *("--continue-on-failure", "--no-shrink", "--warnings", "off"),
            ],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=280,
            env={
                **os.environ,
                "SCHEMATHESIS_HOOKS": "schemathesis_hooks",
                "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
            },
            check=False,
        )
        paths = server.client.send("GET", "/openapi.json").body["paths"]

    assert run.returncode == 0, run.stdout + run.stderr
    assert _number("Tested:", run.stdout) == sum(map(len, paths.values()))
    assert _number("API Links:", run.stdout) >= 3


def _number(after: str, text: str) -> int:
    found = re.search(rf"{after} +(\d+)", text)
    assert found
    return int(found[1])

"""What the one-machine server writes while it is used: nothing of what anyone sent."""

import re
import signal
from pathlib import Path

import httpx

from doors import draft
from http_api.operations import OPERATIONS
from http_client import NO_TLS
from mcp_server.tools import TOOLS
from processes import server_on

SECRET = "the-treasure-is-under-the-oak"


def test_nothing_that_was_sent_is_in_its_output(tmp_path: Path) -> None:
    with server_on(tmp_path / "m.db", environment={"MEMORIES_LOG_LEVEL": "DEBUG"}) as server:
        headers = {"x_agent_id": SECRET, "authorization": f"Bearer {SECRET}"}
        server.client.send("POST", "/memories", draft(SECRET, tags=[SECRET]), **headers)
        for operation in OPERATIONS:
            for parameter in ("1", SECRET):
                path = re.sub(r"<\w+>", parameter, operation.path)
                body = draft(SECRET) if operation.body is not None else None
                server.client.send(operation.method, f"{path}?q={SECRET}", body, **headers)
                server.client.send(operation.method, path, body, **headers)
        for tool in TOOLS:
            for arguments in ({}, {"content": SECRET, "tags": [SECRET]}, {SECRET: SECRET}):
                parameters = {"name": tool, "arguments": arguments}
                message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}
                answer = httpx.post(
                    f"{server.url}/mcp",
                    json=message,
                    headers={"x-agent-id": SECRET, "accept": "application/json, text/event-stream"},
                    verify=NO_TLS,
                )
                assert answer.status_code == 200
        httpx.post(f"{server.url}/mcp", content=SECRET.encode())
        httpx.get(f"{server.url}/mcp?q={SECRET}")

        code, output = server.stop(signal.SIGTERM)

    assert code == 0
    assert SECRET not in output

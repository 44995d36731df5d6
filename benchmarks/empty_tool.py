"""A server with one tool that returns a constant, built as the real one is: what the SDK costs.

``python benchmarks/empty_tool.py stdio``, or ``http``, which says its address in its first line.
"""

import sys
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

from local.server import LOOPBACK_HOSTS, listen, url_of
from mcp_server import stdio
from mcp_server.http import build_app
from mcp_server.serving import server_for

_TOOL = types.Tool(name="empty", input_schema={"type": "object"})
_RESULT = types.CallToolResult(
    content=[types.TextContent(type="text", text='{"ok":true}')], structured_content={"ok": True}
)


async def _list(_: object, __: object) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_TOOL])


async def _call(_: object, __: object) -> types.CallToolResult:
    return _RESULT


def main(transport: str) -> None:
    server: Server[Any] = Server("empty", on_list_tools=_list, on_call_tool=_call)
    if transport == "stdio":
        stdio.run(server)
    else:
        with listen("127.0.0.1", 0) as listener:
            print(url_of(listener), flush=True)
            server_for(build_app(server, LOOPBACK_HOSTS)).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])

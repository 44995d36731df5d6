"""The bare tools that the MCP server is measured against: the SDK, and the store's SQL.

``python bare_tool.py FILE stdio``, or ``http``, which says its address in its first line. The tool
``empty`` answers a constant: what the SDK alone costs.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server

from bare import Bare
from local.server import LOOPBACK_HOSTS, listen, url_of
from mcp_server import stdio
from mcp_server.http import build_app
from mcp_server.serving import server_for


def tools(bare: Bare) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
    return {
        "empty": lambda arguments: {"ok": True},
        "search_memories": lambda arguments: bare.page(json.dumps(arguments), lambda: arguments),
        "prime_memory_context": lambda arguments: bare.prime(),
        "inspect_memory": lambda arguments: bare.read(arguments["memory_id"]),
        "record_memory": bare.create,
        "record_memories": lambda arguments: {"memories": bare.batch(arguments["memories"])},
        "revise_memory": lambda arguments: bare.patch(arguments["memory_id"], arguments["content"]),
    }


def build(bare: Bare) -> Server[Any]:
    known = tools(bare)
    declared = [types.Tool(name=name, input_schema={"type": "object"}) for name in known]

    async def list_tools(_: object, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=declared)

    async def call_tool(_: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        result = known[params.name](params.arguments or {})
        text = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], structured_content=result
        )

    return Server(
        "bare",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        # As the real server has it.
        get_tool_input_schema=lambda _: None,
    )


def main(data: str, transport: str) -> None:
    server = build(Bare(Path(data)))
    if transport == "stdio":
        stdio.run(server)
    else:
        with listen("127.0.0.1", 0) as listener:
            print(url_of(listener), flush=True)
            server_for(build_app(server, LOOPBACK_HOSTS), connections=512).run(sockets=[listener])


if __name__ == "__main__":
    main(*sys.argv[1:])

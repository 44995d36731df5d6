"""python fastmcp_client.py (legacy | auto) (http URL | stdio COMMAND ARGUMENT...)."""

import asyncio
import json
import os
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport


async def main(mode: Any, kind: str, target: str, *args: str) -> None:
    transport: Any = (
        StreamableHttpTransport(target)
        if kind == "http"
        else StdioTransport(target, list(args), env=dict(os.environ), keep_alive=False)
    )
    async with Client(transport, mode=mode) as client:

        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(name, arguments, raise_on_error=False)
            return {
                "error": result.is_error,
                "texts": [block.text for block in result.content],
                "structured": result.structured_content,
            }

        tools = await client.list_tools()
        tags = ["drink"]
        recorded = await call(
            "record_memory", content="Prefers tea 🍵", tags=tags, memory_type="preference"
        )
        memory_id = recorded["structured"]["id"]
        known = {"memory_id": memory_id, "expected_version": 1}
        seen = {
            "protocol": client.session.protocol_version,
            "server": client.session.server_info.name,
            "instructions": client.session.instructions,
            "tools": [tool.name for tool in tools],
            "recorded": recorded,
            "found": await call("search_memories", q="TEA", tag="drink"),
            "revised": await call("revise_memory", content="Prefers green tea", **known),
            "stale": await call("revise_memory", content="Prefers coffee", **known),
            "wrong": await call("search_memories", limit="ten"),
            "policy": (await client.read_resource("memories://policy"))[0].text,
            "prompt": (await client.get_prompt("use_memories")).messages[0].content.text,
        }
    sys.stdout.write(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))

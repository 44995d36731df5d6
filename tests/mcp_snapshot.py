"""What the MCP server lists, kept in a file so that no change of it goes unseen.

After a change that is meant, write the file anew: ``python tests/mcp_snapshot.py``.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from mcp.client import Client
from pydantic import BaseModel

from local.identity import AGENT, principal_for
from mcp_server.server import build_server
from memories.service import MemoryService
from memories.stores.sqlite import SqliteStore

SNAPSHOT = Path(__file__).parent / "mcp_surface" / "tools.json"


async def surface(client: Client) -> dict[str, Any]:
    """Return all that the server lists, as it goes over the wire."""
    return {
        "tools": _written((await client.list_tools()).tools),
        "resources": _written((await client.list_resources()).resources),
        "templates": _written((await client.list_resource_templates()).resource_templates),
        "prompts": _written((await client.list_prompts()).prompts),
    }


def _written(things: list[Any]) -> list[dict[str, Any]]:
    return [_dump(thing) for thing in things]


def _dump(thing: BaseModel) -> dict[str, Any]:
    return thing.model_dump(mode="json", by_alias=True, exclude_none=True)


async def _write() -> None:
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder, "memories.db"))
        server = build_server(MemoryService(store), lambda _: principal_for(AGENT))
        async with Client(server) as client:
            text = json.dumps(await surface(client), indent=2, ensure_ascii=False)
        SNAPSHOT.write_text(text + "\n", encoding="utf-8")
        store.close()


if __name__ == "__main__":
    anyio.run(_write)

"""The MCP door, through the SDK's client, with every result held to its published schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal
from jsonschema import Draft202012Validator
from mcp.client import Client
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from doors import Memory, Page, Refused
from http_client import NO_TLS

_KINDS = {
    r"Memory \d+ not found": "not found",
    r"Relation not found": "not found",
    r"Memory is at version": "stale",
    r"Memory was modified": "conflict",
    r"The first request with this": "conflict",
    r"This idempotency key was": "invalid",
    r"Too many requests": "too many",
    r"The store is unavailable": "unavailable",
    r"This needs the scope": "forbidden",
    r"Only the agent that made": "forbidden",
    r"This memory is read-only": "forbidden",
}


@contextmanager
def mcp_door(portal: BlockingPortal, url: str, mode: ConnectMode, agent: str) -> Iterator[McpDoor]:
    """Connect to the server at ``url`` as an agent."""
    with connected(portal, url, mode, {b"x-agent-id": agent.encode()}) as door:
        yield door


@contextmanager
def connected(
    portal: BlockingPortal, url: str, mode: ConnectMode, headers: Mapping[bytes, bytes]
) -> Iterator[McpDoor]:
    """Connect to the server at ``url`` with headers."""
    with ExitStack() as stack:
        enter = stack.enter_context
        http = httpx2.AsyncClient(headers=headers, timeout=30, verify=NO_TLS)
        enter(portal.wrap_async_context_manager(http))
        client = Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode)
        enter(portal.wrap_async_context_manager(client))
        yield McpDoor(portal, client)


class McpDoor:
    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal = portal
        self.client = client
        self.replayed = False
        tools = portal.call(client.list_tools).tools
        self.schemas = {
            tool.name: Draft202012Validator(tool.output_schema or False) for tool in tools
        }

    def record(self, **fields: Any) -> Memory:
        return self.call("record_memory", fields)

    def record_batch(
        self, drafts: Sequence[dict[str, Any]], idempotency_key: str | None = None
    ) -> list[Memory]:
        key = {} if idempotency_key is None else {"idempotency_key": idempotency_key}
        recorded = self.call("record_memories", {"memories": list(drafts), **key})
        memories: list[Memory] = recorded["memories"]
        return memories

    def search(self, **query: Any) -> Page:
        return self.call("search_memories", query)

    def inspect(self, memory_id: Any, full: bool = False) -> Memory:
        asked = {"full": True} if full else {}
        return self.call("inspect_memory", {"memory_id": memory_id} | asked)

    def revise(self, memory_id: Any, expected_version: int | None = None, **fields: Any) -> Memory:
        expected = {} if expected_version is None else {"expected_version": expected_version}
        return self.call("revise_memory", {"memory_id": memory_id, **expected, **fields})

    def share(self, memory_id: Any, **grants: Any) -> dict[str, Any]:
        return self.call("share_memory", {"memory_id": memory_id, **grants})

    def relate(self, from_id: Any, relation_type: str, to_id: Any, **fields: Any) -> dict[str, Any]:
        relation = {"from_id": from_id, "relation_type": relation_type, "to_id": to_id}
        return self.call("relate_memories", relation | fields)

    def unrelate(self, from_id: Any, relation_type: str, to_id: Any) -> dict[str, Any]:
        return self.relate(from_id, relation_type, to_id, remove=True)

    def relations(self, memory_id: Any, **query: Any) -> list[dict[str, Any]]:
        related = self.call("get_related_memories", {"memory_id": memory_id, **query})
        return [relation for item in related["items"] for relation in item["relations"]]

    def tags(self, **query: Any) -> Page:
        return self.call("list_tags", query)

    def retire(self, memory_id: Any, expected_version: int | None = None) -> Memory:
        expected = {} if expected_version is None else {"expected_version": expected_version}
        return self.call("retire_memory", {"memory_id": memory_id, **expected})

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the structured result. Raises Refused for an error result."""
        result = self.result(tool, arguments)
        texts = texts_of(result)
        self.replayed = any(text.startswith("Nothing was recorded now") for text in texts[1:])
        if result.is_error:
            raise _refused(texts)
        structured: dict[str, Any] = result.structured_content
        self.schemas[tool].validate(structured)
        assert texts[0] == json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
        return structured

    def result(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        result: CallToolResult = self.portal.call(self.client.call_tool, tool, arguments)
        return result


def texts_of(result: CallToolResult) -> list[str]:
    assert all(isinstance(block, TextContent) for block in result.content)
    return [block.text for block in result.content if isinstance(block, TextContent)]


def _refused(texts: list[str]) -> Refused:
    text = texts[0]
    assert len(text) <= 500
    assert "\n" not in text
    for pattern, kind in _KINDS.items():
        if re.match(pattern, text):
            return Refused(kind, text, current=json.loads(texts[1]) if texts[1:] else None)
    # The problems are set apart by semicolons, and each begins with its place.
    problems = [part.split(": ", 1) for part in re.split(r"; (?=[\w.]+: )", text)]
    where = [place.removeprefix("memories.") for place, _ in problems]
    return Refused("invalid", "; ".join(message for _, message in problems), where)

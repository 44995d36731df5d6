"""Many users and agents at once: every answer is the caller's own."""

from typing import Any

import anyio
import httpx2
from anyio.from_thread import BlockingPortal

from http_client import NO_TLS
from issuer import Issuer
from memories.principal import Principal
from memories.stores.port import Store
from remote.server import Remote

CALLS = 2000
# Nine users with four or five agents each.
CALLERS = [(f"user {number % 9}", f"agent {number // 9}") for number in range(37)]
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
}


def test_no_answer_of_two_thousand_concurrent_calls_crosses(
    remote: Remote, portal: BlockingPortal, issuer: Issuer, store: Store
) -> None:
    recorded: dict[tuple[str, int], tuple[str, str]] = {}

    async def call(
        client: httpx2.AsyncClient, number: int, tool: str, **arguments: Any
    ) -> dict[str, Any]:
        # Not the SDK's client, which would be most of the work.
        answer = await client.post(f"{remote.url}/mcp", json=message(number, tool, arguments))
        assert answer.status_code == 200
        body = answer.json()
        assert body["id"] == number
        assert not body["result"]["isError"]
        content: dict[str, Any] = body["result"]["structuredContent"]
        return content

    async def one(client: httpx2.AsyncClient, user: str, agent: str, number: int) -> None:
        if number % 3 == 0:
            content = f"{number} of {user} by {agent}"
            memory = await call(client, number, "record_memory", content=content, tags=[user])
            assert memory["content"] == content
            assert (user, memory["id"]) not in recorded
            recorded[user, memory["id"]] = content, agent
        elif number % 3 == 1:
            page = await call(client, number, "search_memories", sort="created_at")
            assert all(item["tags"] == [user] for item in page["items"])
        else:
            other = next(name for name, _ in CALLERS if name != user)
            assert (await call(client, number, "search_memories", tag=other))["total"] == 0

    async def caller(user: str, agent: str, numbers: list[int]) -> None:
        headers = {"Authorization": f"Bearer {issuer.token(user, agent)}", **HEADERS}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120, verify=NO_TLS) as client,
            anyio.create_task_group() as group,
        ):
            for number in numbers:
                group.start_soon(one, client, user, agent, number)

    async def everyone() -> None:
        with anyio.fail_after(120):
            async with anyio.create_task_group() as group:
                for start, (user, agent) in enumerate(CALLERS):
                    numbers = list(range(start, CALLS, len(CALLERS)))
                    group.start_soon(caller, user, agent, numbers)

    portal.call(everyone)

    for (user, memory_id), (content, agent) in recorded.items():
        record = store.get(Principal(user, agent, frozenset()), memory_id)
        assert record
        assert (record.content, record.agent_id) == (content, agent)


def message(number: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}

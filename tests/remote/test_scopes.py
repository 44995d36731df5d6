"""A token that does not allow what is asked: 403, which names the scope to ask for."""

import json
from typing import Any

import httpx
import pytest
from anyio.from_thread import BlockingPortal
from mcp.client import Client

from doors import Refused
from http_client import NO_TLS
from issuer import Issuer
from mcp_door import McpDoor
from mcp_server.server import build_server
from mcp_server.tool import Tool
from mcp_server.tools import TOOLS
from memories.errors import DomainError, MissingScope
from memories.principal import ADMIN, READ, SCOPES, WRITE, Principal
from memories.service import MemoryService
from remote.server import METADATA_URL, Remote

ARGUMENTS: dict[str, dict[str, Any]] = {
    "prime_memory_context": {},
    "search_memories": {},
    "record_memory": {"content": "A", "tags": ["a"]},
    "record_memories": {"memories": [{"content": "A", "tags": ["a"]}]},
    "inspect_memory": {"memory_id": 1},
    "revise_memory": {"memory_id": 1},
    "share_memory": {"memory_id": 1},
    "retire_memory": {"memory_id": 1},
    "relate_memories": {"from_id": 1, "relation_type": "follows", "to_id": 2},
    "get_related_memories": {"memory_id": 1},
    "list_tags": {},
}

tools = pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))


@tools
def test_a_tool_is_declared_with_the_scope_that_the_service_asks_for(
    service: MemoryService, tool: Tool
) -> None:
    arguments = tool.arguments.model_validate(ARGUMENTS[tool.name])
    others = frozenset(SCOPES) - {tool.scope}

    with pytest.raises(MissingScope) as refused:
        tool.run(service, Principal("ann", "agent", others), arguments)
    assert refused.value.scope == tool.scope

    try:
        tool.run(service, Principal("ann", "agent", frozenset({tool.scope})), arguments)
    except DomainError as error:
        assert not isinstance(error, MissingScope)


@tools
@pytest.mark.parametrize("scope", ["", ADMIN, "other", READ, WRITE])
def test_a_call_that_the_token_does_not_allow_is_refused_and_said_what_to_ask_for(
    remote: Remote, issuer: Issuer, tool: Tool, scope: str
) -> None:
    answer = remote.call(tool.name, issuer.token("ann", "agent", scope), **ARGUMENTS[tool.name])

    if scope == tool.scope:
        assert answer.status_code == 200
    else:
        assert answer.status_code == 403
        assert answer.headers["www-authenticate"] == (
            f'Bearer error="insufficient_scope", scope="{tool.scope}", '
            f'resource_metadata="{METADATA_URL}"'
        )
        assert answer.json() == {"detail": f"This needs the scope {tool.scope}"}


def test_scopes_that_are_no_text_are_none(remote: Remote, issuer: Issuer) -> None:
    token = issuer.token("ann", "agent", changed={"scope": [READ, WRITE]})

    assert remote.call("search_memories", token).status_code == 403


def test_a_refused_call_stores_nothing(remote: Remote, issuer: Issuer, token: str) -> None:
    remote.call("record_memory", issuer.token("ann", "agent", READ), content="A", tags=["a"])

    answer = remote.call("search_memories", token).json()
    assert answer["result"]["structuredContent"]["total"] == 0


def test_reading_a_memory_as_a_resource_needs_the_scope_to_read(
    remote: Remote, issuer: Issuer
) -> None:
    token = issuer.token("ann", "agent", WRITE)

    answer = remote.post("resources/read", {"uri": "memories://memories/1"}, token)
    assert answer.status_code == 403
    assert f'scope="{READ}"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/list", {}),
        ("resources/read", {"uri": "memories://policy"}),
        ("prompts/get", {"name": "use_memories"}),
        ("ping", {}),
    ],
)
def test_what_is_the_same_for_everyone_needs_no_scope(
    remote: Remote, issuer: Issuer, method: str, params: dict[str, str]
) -> None:
    assert remote.post(method, params, issuer.token("ann", "agent", "")).status_code == 200


def test_a_tool_that_does_not_exist_is_said_not_to(remote: Remote, issuer: Issuer) -> None:
    answer = remote.call("no_such_tool", issuer.token("ann", "agent", ""))

    assert "Unknown tool" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"7", b'{"method": 7}', b"[" * 100_000, b"\xff", b'{"params":[]}']
)
@pytest.mark.parametrize("scope", ["", f"{READ} {WRITE}"])
def test_what_is_no_message_is_answered_as_such_whatever_the_scopes(
    remote: Remote, issuer: Issuer, body: bytes, scope: str
) -> None:
    assert sent(remote, issuer.token("ann", "agent", scope), body).status_code == 400


@pytest.mark.parametrize("scope", ["", f"{READ} {WRITE}"])
def test_a_body_that_is_too_large_is_not_read(remote: Remote, issuer: Issuer, scope: str) -> None:
    body = json.dumps({"method": "x" * (1024 * 1024)}).encode()

    assert sent(remote, issuer.token("ann", "agent", scope), body).status_code == 413


def test_the_service_has_the_last_word(service: MemoryService, portal: BlockingPortal) -> None:
    reader = Principal("ann", "agent", frozenset({READ}))
    client = Client(build_server(service, lambda _: reader))

    with portal.wrap_async_context_manager(client), pytest.raises(Refused) as refused:
        McpDoor(portal, client).record(content="A", tags=["a"])
    assert refused.value.kind == "forbidden"


def sent(remote: Remote, token: str, body: bytes) -> httpx.Response:
    headers = {
        "accept": "application/json, text/event-stream",
        "authorization": f"Bearer {token}",
        "content-type": "application/json",
    }
    return httpx.post(f"{remote.url}/mcp", content=body, headers=headers, verify=NO_TLS)

"""The remote server as clients see it."""

from contextlib import AbstractContextManager

import httpx
import pytest
from anyio.from_thread import BlockingPortal
from mcp.client.client import ConnectMode

from doors import Refused
from issuer import Issuer
from mcp_door import McpDoor
from memories.errors import StoreUnavailable
from memories.service import MemoryService
from remote.server import ORIGIN, PUBLIC_URL, Remote, door_of, remote_over


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_users_have_memories_of_their_own_and_their_agents_share_them(
    remote: Remote, portal: BlockingPortal, issuer: Issuer, mode: ConnectMode
) -> None:
    def door(user: str, agent: str) -> AbstractContextManager[McpDoor]:
        return door_of(remote.url, portal, issuer.token(user, agent), mode)

    with door("ann", "one") as ann, door("ann", "two") as other_agent, door("bob", "one") as bob:
        memory = ann.record(content="Ann likes tea", tags=["drink"])
        assert other_agent.search(q="tea")["items"][0]["id"] == memory["id"]
        assert bob.search()["total"] == 0
        with pytest.raises(Refused) as refused:
            bob.inspect(memory["id"])
        assert refused.value.kind == "not found"


@pytest.mark.parametrize("path", ["", "/mcp"])
def test_a_client_without_a_token_is_told_where_to_get_one(
    remote: Remote, issuer: Issuer, path: str
) -> None:
    answer = httpx.get(f"{remote.url}/.well-known/oauth-protected-resource{path}")

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "resource": f"{PUBLIC_URL}/mcp",
        "authorization_servers": [issuer.url],
        "scopes_supported": ["memories:read", "memories:write"],
        "bearer_methods_supported": ["header"],
        "resource_name": "memories",
    }


def test_a_slash_at_the_end_of_the_public_address_changes_nothing(
    service: MemoryService, issuer: Issuer
) -> None:
    with remote_over(service, issuer, public_url=f"{PUBLIC_URL}/", scope_prefix="api/") as remote:
        metadata = httpx.get(f"{remote.url}/.well-known/oauth-protected-resource").json()
        assert metadata["resource"] == f"{PUBLIC_URL}/mcp"
        assert metadata["scopes_supported"] == ["api/memories:read", "api/memories:write"]
        challenge = remote.post("ping").headers["www-authenticate"]
        assert f'"{PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"' in challenge


def test_health_and_readiness_are_open(remote: Remote) -> None:
    assert httpx.get(f"{remote.url}/health").json() == {"status": "ok"}
    ready = httpx.get(f"{remote.url}/ready")
    assert (ready.status_code, ready.json()) == (
        200,
        {"status": "ready", "checks": {"store": "ok"}},
    )


def test_it_is_not_ready_while_the_store_is_down(issuer: Issuer) -> None:
    class DownService(MemoryService):
        def __init__(self) -> None:
            """Have no store."""

        def check(self) -> None:
            raise StoreUnavailable

    with remote_over(DownService(), issuer) as remote:
        ready = httpx.get(f"{remote.url}/ready")
    assert ready.status_code == 503
    assert ready.json() == {"status": "not_ready", "checks": {"store": "failed"}}


def test_it_answers_only_to_its_names(service: MemoryService, issuer: Issuer, token: str) -> None:
    with remote_over(service, issuer, allowed_hosts=()) as remote:
        assert remote.post("ping", token=token, host="memories.example").status_code == 200
        for host in ("evil.example", "memories.example.evil.example", "127.0.0.1"):
            assert remote.post("ping", token=token, host=host).status_code == 421


def test_a_page_in_a_browser_may_call_only_if_its_origin_is_named(
    remote: Remote, token: str
) -> None:
    answer = remote.post("ping", token=token, origin=ORIGIN)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == ORIGIN

    answer = remote.post("ping", token=token, origin="https://evil.example")
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_a_page_in_a_browser_can_read_what_it_is_told_to_do(remote: Remote) -> None:
    answer = remote.post("ping", origin=ORIGIN)

    assert answer.status_code == 401
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "www-authenticate" in answer.headers["access-control-expose-headers"].lower()


@pytest.mark.parametrize(("path", "method"), [("/mcp", "POST"), ("/.well-known/x", "GET")])
def test_a_preflight_needs_no_token(remote: Remote, path: str, method: str) -> None:
    headers = {
        "origin": ORIGIN,
        "access-control-request-method": method,
        "access-control-request-headers": "authorization,mcp-protocol-version",
    }

    assert httpx.options(f"{remote.url}{path}", headers=headers).status_code == 200


def test_there_is_nothing_to_get_at_mcp(remote: Remote, token: str) -> None:
    headers = {"authorization": f"Bearer {token}", "accept": "text/event-stream"}

    assert httpx.get(f"{remote.url}/mcp", headers=headers).status_code == 405

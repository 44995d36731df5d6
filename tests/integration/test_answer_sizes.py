"""The largest answers of both doors, as a function hands them over to Lambda."""

import json
from typing import Any

import httpx
import pytest

from doors import draft
from http_api.app import Handler
from http_client import EventClient, event_of
from http_client import claims_of as claims
from local.identity import AGENT, principal_for
from memories.fields import MAX_BATCH
from memories.models import MemoryDraft
from memories.service import MemoryService

# What Lambda takes of a function, in bytes.
MOST = 6_291_556

# What each escape makes most of: by HTTP in ASCII, and by a string in a string in a string.
HEAVY = ["\U0001f9e0", '"', "\\", "\n", "太"]


def fill(service: MemoryService, letter: str) -> None:
    names = [f"{number:03}" + letter * 253 for number in range(100)]
    new = MemoryDraft(
        content="x" + letter * 7_999,
        tags=["x" + letter * (43 + number) for number in range(20)],
        memory_type="preference",
        shared_with_agents=names,
    )
    for kind in ("preference", "identity"):
        drafts = [new.model_copy(update={"memory_type": kind})] * MAX_BATCH
        for _ in range(4):
            service.record_batch(principal_for(AGENT), drafts)


def handed_over(handler: Handler, target: str) -> tuple[int, dict[str, Any]]:
    """Return the size of an HTTP answer as the runtime of Python 3.11 writes it, and its body."""
    answer = handler(event_of("GET", target, None, {}, claims("local")), None)
    return len(json.dumps(answer)), json.loads(answer["body"])


def called(url: str, tool: str, **arguments: Any) -> tuple[int, dict[str, Any]]:
    """Return the size of an MCP answer as the adapter writes it, and its result."""
    answer = httpx.post(
        f"{url}/mcp",
        json={
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        },
        headers={
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-11-25",
        },
    )
    result: dict[str, Any] = answer.json()["result"]
    return len(json.dumps({"body": answer.text}, ensure_ascii=False).encode()), result


@pytest.mark.parametrize("letter", HEAVY, ids=repr)
def test_the_largest_pages_are_within_what_lambda_takes(
    handler: Handler, url: str, service: MemoryService, letter: str
) -> None:
    fill(service, letter)

    for view in ("", "&view=full"):
        size, page = handed_over(handler, f"/memories?limit=100{view}")
        assert size < MOST
        assert 10 <= len(page["items"]) < 100 or (view, len(page["items"])) == ("", 100)
    for full in (False, True):
        size, result = called(url, "search_memories", limit=100, full=full)
        assert size < MOST
        assert not result["isError"]


@pytest.mark.parametrize("letter", HEAVY, ids=repr)
def test_the_largest_start_of_a_session_is_within_it_too(
    url: str, service: MemoryService, letter: str
) -> None:
    fill(service, letter)

    size, result = called(url, "prime_memory_context", limit=100, max_chars=1_000_000, full=True)

    assert size < MOST
    context = result["structuredContent"]
    assert context["preferences"]["items"]
    assert context["identities"]["items"]
    for page in context.values():
        assert page["has_more"] is (len(page["items"]) < 100)


def test_the_largest_batch_that_a_body_holds_is_answered_within_it(handler: Handler) -> None:
    drafts = [draft("\U0001f9e0" * 8_000) for _ in range(MAX_BATCH)]
    body = json.dumps(drafts, ensure_ascii=False)

    answer = handler(
        event_of(
            "POST", "/memories/batch", body, {"content-type": "application/json"}, claims("local")
        ),
        None,
    )

    assert answer["statusCode"] == 201
    assert len(json.dumps(answer)) < MOST
    assert EventClient(handler).send("GET", "/memories?limit=100").body["total"] == MAX_BATCH

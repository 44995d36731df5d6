"""The container: built for real, and driven by a client with tokens over DynamoDB."""

import os
import signal
from typing import Any

import httpx
import pytest
from anyio.from_thread import BlockingPortal
from mcp.client.client import ConnectMode

from doors import Refused
from e2e.emulator import Emulator
from image import buildah
from image.buildah import Container
from image.conftest import PUBLIC_URL, TABLE, Served
from issuer import Issuer
from memories.principal import READ
from remote.server import door_of

pytestmark = pytest.mark.image

# Python itself is the base's.
MAX_MEGABYTES = 160


def test_it_runs_as_nobody_with_a_health_check_and_no_secret(image: str) -> None:
    config = buildah.configuration(image)

    assert config["User"] == "10001:10001"
    assert config["Healthcheck"]["Test"][0] == "CMD"
    assert set(config["ExposedPorts"]) == {"8080/tcp"}
    assert {line.partition("=")[0] for line in config["Env"]} == {
        "PATH",
        "MEMORIES_HOST",
        "MEMORIES_PORT",
        "MEMORIES_STORE",
    }


def test_it_is_small_and_knows_nothing_of_where_it_was_built(container: Container) -> None:
    code, size = container.run("du", "--summarize", "--block-size=1M", "/opt/memories")
    assert code == 0
    assert int(size.split()[0]) <= MAX_MEGABYTES

    code, _ = container.run("test", "-e", "/etc/pip.conf", "-o", "-e", "/source")
    assert code == 1


def test_it_does_not_start_without_being_told_whose_tokens_to_take(container: Container) -> None:
    code, output = container.run("python", "-m", "mcp_server.main")

    assert code == 1
    assert "refused to serve without verifying who calls" in output


def test_it_serves_what_the_contract_says(
    served: Served, portal: BlockingPortal, issuer: Issuer, emulator: Emulator
) -> None:
    for mode in ("2026-07-28", "legacy"):
        use(served, portal, issuer, mode)

    items: list[dict[str, Any]] = emulator.client("dynamodb").scan(TableName=TABLE)["Items"]
    assert any("Ann likes green tea" in str(item) for item in items)


def use(served: Served, portal: BlockingPortal, issuer: Issuer, mode: ConnectMode) -> None:
    ann = issuer.token(f"ann of {mode}", "one")
    bob = issuer.token(f"bob of {mode}", "one")
    reader = issuer.token(f"ann of {mode}", "two", READ)
    with (
        door_of(served.url, portal, ann, mode) as door,
        door_of(served.url, portal, bob, mode) as other_user,
        door_of(served.url, portal, reader, mode) as other_agent,
    ):
        memory = door.record(content="Ann likes tea", tags=["drink"], memory_type="preference")
        (batched,) = door.record_batch([{"content": "Ann lives in Bonn", "tags": ["home"]}])
        assert other_agent.search(q="TEA")["items"][0]["content"] == "Ann likes tea"
        assert other_agent.inspect(batched["id"])["content"] == "Ann lives in Bonn"
        assert other_user.search()["total"] == 0
        with pytest.raises(Refused):
            other_user.inspect(memory["id"])

        revised = door.revise(memory["id"], 1, content="Ann likes green tea")
        assert revised["version"] == 2
        assert door.retire(batched["id"])["status"] == "deleted"
        assert door.search()["total"] == 1


def test_it_refuses_as_a_protected_resource_does(served: Served, issuer: Issuer) -> None:
    metadata_url = f"{PUBLIC_URL}/.well-known/oauth-protected-resource/mcp"
    call = {"name": "record_memory", "arguments": {"content": "A", "tags": ["a"]}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}

    def answer(**headers: str) -> httpx.Response:
        accept = {"accept": "application/json, text/event-stream"}
        return httpx.post(f"{served.url}/mcp", json=message, headers=accept | headers)

    unknown = answer()
    assert unknown.status_code == 401
    assert f'resource_metadata="{metadata_url}"' in unknown.headers["www-authenticate"]
    reader = answer(authorization=f"Bearer {issuer.token('ann', 'one', READ)}")
    assert reader.status_code == 403
    assert (
        'error="insufficient_scope", scope="memories:write"' in reader.headers["www-authenticate"]
    )
    metadata = httpx.get(f"{served.url}/.well-known/oauth-protected-resource/mcp").json()
    assert metadata["resource"] == f"{PUBLIC_URL}/mcp"
    assert metadata["authorization_servers"] == [issuer.url]


def test_it_is_healthy_and_ready_and_stops_when_told(served: Served, image: str) -> None:
    command = buildah.configuration(image)["Healthcheck"]["Test"][1:]
    assert served.container.run(*command, **served.environment) == (0, "")
    assert httpx.get(f"{served.url}/ready").json()["status"] == "ready"

    program = buildah.program_in(served.process, "/opt/memories/bin/python")
    os.kill(program, signal.SIGTERM)
    output, _ = served.process.communicate(timeout=20)
    assert (served.process.returncode, output) == (0, "")

"""The container's program, as a process: it refuses to start, serves, and stops."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from issuer import AUDIENCE, Issuer


def environment(tmp_path: Path, **settings: str) -> dict[str, str]:
    ours = {f"MEMORIES_{name.upper()}": text for name, text in settings.items()}
    others = {name: text for name, text in os.environ.items() if not name.startswith("MEMORIES_")}
    return {**others, "MEMORIES_DATA": str(tmp_path / "m.db"), "MEMORIES_PORT": "0", **ours}


@contextmanager
def program(tmp_path: Path, **settings: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "mcp_server.main"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path, **settings),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


GOOD = {
    "issuer": "https://issuer.example",
    "audience": AUDIENCE,
    "public_url": "https://memories.example",
}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"issuer": ""}, "refused to serve without verifying who calls"),
        ({"issuer": "", "host": "0.0.0.0"}, "refused to serve without verifying who calls"),
        ({"issuer": "", "host": "::"}, "refused to serve without verifying who calls"),
        ({"audience": ""}, "MEMORIES_AUDIENCE is not set"),
        ({"issuer": "http://issuer.example"}, "MEMORIES_ISSUER is 'http://issuer.example'"),
        ({"issuer": "issuer.example"}, "MEMORIES_ISSUER is 'issuer.example'"),
        ({"issuer": "https://["}, "MEMORIES_ISSUER is 'https://['"),
        ({"jwks_url": "http://10.0.0.1/keys"}, "MEMORIES_JWKS_URL is 'http://10.0.0.1/keys'"),
        ({"jwks_url": "file:///keys"}, "MEMORIES_JWKS_URL is 'file:///keys'"),
        ({"public_url": ""}, "MEMORIES_PUBLIC_URL is ''"),
        ({"public_url": "http://memories.example"}, "MEMORIES_PUBLIC_URL is 'http://memories."),
        ({"port": "http"}, "MEMORIES_PORT is 'http'"),
        ({"port": "70000"}, "memories: "),
        ({"host": "192.0.2.1"}, "memories: "),
        ({"store": "paper"}, "MEMORIES_STORE is 'paper'"),
    ],
)
def test_it_does_not_start_as_told_and_says_why_in_one_line(
    tmp_path: Path, changed: dict[str, str], why: str
) -> None:
    with program(tmp_path, **GOOD | changed) as process:
        output, errors = process.communicate(timeout=30)

    assert process.returncode == 1
    assert output == ""
    assert errors.startswith("memories: ")
    assert errors.count("\n") == 1
    assert why in errors
    assert not (tmp_path / "m.db").exists() or "host" in changed or "port" in changed


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_on_any_address_and_stops_when_told(
    tmp_path: Path, issuer: Issuer, token: str, how: signal.Signals
) -> None:
    settings = GOOD | {"issuer": issuer.url, "host": "0.0.0.0"}
    with program(tmp_path, **settings) as process:
        assert process.stdout
        banner = process.stdout.readline()
        found = re.fullmatch(
            r"memories serves https://memories\.example/mcp on 0\.0\.0\.0 port (\d+)\n", banner
        )
        assert found, banner
        answer = httpx.post(
            f"http://127.0.0.1:{found[1]}/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            headers={
                "accept": "application/json, text/event-stream",
                "authorization": f"Bearer {token}",
                "host": "memories.example",
            },
        )
        assert answer.status_code == 200
        process.send_signal(how)
        assert process.communicate(timeout=20) == ("", "")

    assert process.returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["m.db"]

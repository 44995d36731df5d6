"""The one-machine server on each store that it can be asked for."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from moto.server import ThreadedMotoServer

from doors import HttpDoor, draft
from processes import Server, server_on

AWS = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "eu-central-1",
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The address of a service that is compatible with DynamoDB."""
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def on_dynamodb(tmp_path: Path, endpoint: str, *options: str) -> AbstractContextManager[Server]:
    where = ["--store", "dynamodb", "--endpoint-url", endpoint, "--table", "mine"]
    return server_on(tmp_path / "unused.db", *where, *options, environment=AWS)


def test_on_a_compatible_endpoint_the_table_is_made_when_asked_and_used_by_every_server(
    tmp_path: Path, endpoint: str
) -> None:
    with on_dynamodb(tmp_path, endpoint, "--create-table") as one:
        memory = HttpDoor(one.client).record(**draft())
        assert one.banner[1] == f"data in the DynamoDB table mine at {endpoint}"
        with on_dynamodb(tmp_path, endpoint) as two:
            assert HttpDoor(two.client).search(q="TEA")["items"][0]["id"] == memory["id"]
            assert HttpDoor(two.client).record(**draft())["id"] == memory["id"] + 1
    with on_dynamodb(tmp_path, endpoint, "--create-table") as again:
        assert HttpDoor(again.client).search()["total"] == 2
    assert not (tmp_path / "unused.db").exists()


def test_moto_keeps_the_memories_while_the_server_runs_and_says_so(tmp_path: Path) -> None:
    for _ in range(2):
        with server_on(tmp_path / "unused.db", "--store", "moto") as server:
            assert "gone when the server stops" in server.banner[1]
            door = HttpDoor(server.client)
            assert door.record(**draft())["id"] == 1
            assert door.search(sort="updated_at", q="tea")["total"] == 1


def test_a_table_that_is_not_there_is_told_and_how_to_make_it(
    tmp_path: Path, endpoint: str
) -> None:
    command = ["serve", "--port", "0", "--store", "dynamodb", "--table", "missing"]
    done = subprocess.run(
        [sys.executable, "-m", "local.cli", *command, "--endpoint-url", endpoint],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | AWS,
        check=False,
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot use the table missing" in done.stderr
    assert "--create-table" in done.stderr
    assert "Traceback" not in done.stderr

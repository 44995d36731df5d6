"""The one-machine server as a process: start, stop, kill, and two on one file."""

import os
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from doors import Door, HttpDoor, draft, ids, pages
from local.server import url_of
from processes import server_on


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "local.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, **environment},
        check=False,
    )


def test_it_says_in_three_lines_where_it_listens_where_the_data_and_the_docs_are(
    tmp_path: Path,
) -> None:
    with server_on(tmp_path / "m.db") as server:
        assert server.banner == [
            f"memories listens on {server.url}, for MCP on {server.url}/mcp",
            f"data in {tmp_path / 'm.db'}",
            f"docs at {server.url}/docs",
        ]
        assert server.client.send("GET", "/docs").status == 200


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_cleanly_and_what_was_stored_is_there_on_restart(
    tmp_path: Path, how: signal.Signals
) -> None:
    with server_on(tmp_path / "m.db") as server:
        memory = server.client.send("POST", "/memories", draft()).body
        assert server.stop(how) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.db"]

    with server_on(tmp_path / "m.db") as server:
        answer = server.client.send("GET", "/memories/1").body
        assert answer | {"last_accessed_at": None} == memory
        assert server.client.send("POST", "/memories", draft()).body["id"] == 2


def test_the_time_is_utc_whatever_the_zone_of_the_host(tmp_path: Path) -> None:
    with server_on(tmp_path / "m.db") as server:  # its TZ is Asia/Tokyo
        answer = server.client.send("POST", "/memories", draft())
        date = httpx.Headers(answer.headers)["date"]
        assert answer.body["created_at"][11:16] == date.split()[4][:5]


def test_only_its_owner_may_read_the_data_file(tmp_path: Path) -> None:
    with server_on(tmp_path / "m.db") as server:
        server.client.send("POST", "/memories", draft())
        assert len(list(tmp_path.iterdir())) == 3  # the file, its log and the log's index
        for path in tmp_path.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.0.2.1", "example.com", "localhost.example.com"]
)
def test_an_address_that_is_not_loopback_is_refused_and_told_why(tmp_path: Path, host: str) -> None:
    done = run("serve", "--host", host, "--data", str(tmp_path / "m.db"))

    assert done.returncode == 1
    assert f"refused to listen on {host}" in done.stderr
    assert "not authenticated" in done.stderr
    assert not (tmp_path / "m.db").exists()


def test_a_port_in_use_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run("serve", "--port", port, "--data", str(tmp_path / "m.db"))

    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1 port {port}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("port", ["-1", "65536", "http", "1.5"])
def test_a_port_that_is_none_is_told(port: str) -> None:
    done = run("serve", f"--port={port}")

    assert done.returncode == 2
    assert "is not a port" in done.stderr


def test_settings_come_from_the_environment_too(tmp_path: Path) -> None:
    done = run("serve", MEMORIES_HOST="0.0.0.0", MEMORIES_DATA=str(tmp_path / "m.db"))
    assert "refused to listen on 0.0.0.0" in done.stderr

    done = run("serve", MEMORIES_PORT="http")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "MEMORIES_PORT" in done.stderr


def test_a_file_that_is_not_ours_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("not a database, but long enough to be taken for one " * 100)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE things (name TEXT)")
    connection.close()

    for path in (text, other, tmp_path, tmp_path / "no" / "folder.db"):
        before = path.read_bytes() if path.is_file() else None
        done = run("serve", "--port", "0", "--data", str(path))
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert f"cannot use {path} as the data file" in done.stderr
        assert (path.read_bytes() if path.is_file() else None) == before


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    with server_on(tmp_path / "m.db") as server:
        server.stop(signal.SIGTERM)
    with sqlite3.connect(tmp_path / "m.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()

    done = run("serve", "--port", "0", "--data", str(tmp_path / "m.db"))

    assert (done.returncode, "newer version" in done.stderr) == (1, True)


def test_two_processes_on_one_file_lose_and_mix_nothing(tmp_path: Path) -> None:
    with server_on(tmp_path / "m.db") as one, server_on(tmp_path / "m.db") as two:
        doors: list[Door] = [HttpDoor(one.client), HttpDoor(two.client)]

        def create(number: int) -> dict[str, object]:
            return doors[number % 2].record(content=f"Number {number}", tags=[f"tag {number}"])

        with ThreadPoolExecutor(40) as threads:
            made = list(threads.map(create, range(40)))

        assert sorted(int(str(memory["id"])) for memory in made) == list(range(1, 41))
        for door in doors:
            (page,) = pages(door, limit=100)
            assert page["total"] == 40
            found = {memory["id"]: memory["content"] for memory in page["items"]}
            assert found == {memory["id"]: memory["content"] for memory in made}


def test_two_processes_that_create_the_file_together_both_start(tmp_path: Path) -> None:
    for number in range(5):
        data = tmp_path / f"{number}.db"
        with ThreadPoolExecutor(2) as threads:
            managers = [server_on(data) for _ in range(2)]
            servers = list(threads.map(lambda manager: manager.__enter__(), managers))
        for server, manager in zip(servers, managers, strict=True):
            assert server.client.send("POST", "/memories", draft()).status == 201
            manager.__exit__(None, None, None)


def test_after_a_kill_in_a_storm_every_acknowledged_record_is_there(tmp_path: Path) -> None:
    acknowledged: dict[int, str] = {}

    with server_on(tmp_path / "m.db") as server:

        def storm(writer: int) -> None:
            door = HttpDoor(server.client)
            try:
                for number in range(10_000):
                    memory = door.record(**draft(f"{writer}: {number}"))
                    acknowledged[memory["id"]] = memory["content"]
                    if len(acknowledged) == 300:
                        server.process.kill()
            except httpx.TransportError:
                pass  # killed

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(storm, range(8)))

    with server_on(tmp_path / "m.db") as server:
        door = HttpDoor(server.client)
        found = {
            memory["id"]: memory["content"]
            for page in pages(door, limit=100)
            for memory in page["items"]
        }
        assert len(acknowledged) >= 300
        assert {key: found[key] for key in acknowledged} == acknowledged
        assert len(found) <= len(acknowledged) + 8  # at most one in flight for each writer
        assert ids(door.search(q="0: 0")) != []
        assert door.record(**draft())["id"] == max(found) + 1


def test_the_address_of_an_ipv6_listener_has_brackets() -> None:
    with socket.socket(socket.AF_INET6) as listener:
        try:
            listener.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6 loopback")
        assert url_of(listener) == f"http://[::1]:{listener.getsockname()[1]}"

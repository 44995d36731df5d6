"""The ways in: standard input and output, and Streamable HTTP, by every protocol revision."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import pytest
from anyio.from_thread import BlockingPortal
from mcp.client import Client
from mcp.client.client import ConnectMode
from mcp.client.stdio import StdioServerParameters, stdio_client

from doors import draft, ids
from http_client import Answer, SocketClient, serving
from local.identity import AGENT, principal_for
from mcp_door import McpDoor
from mcp_server.tools import TOOLS
from memories.config import Settings
from memories.service import MemoryService
from memories.stores.port import Store
from memories.stores.sqlite import SqliteStore
from processes import server_on

HANDSHAKES = ["2025-03-26", "2025-06-18", "2025-11-25"]
MODERN = "2026-07-28"
CLIENT = {"name": "test", "version": "1"}
MEBIBYTE = 1024 * 1024

LOCAL = principal_for(AGENT)


def program(data: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "local.cli", "mcp", "--data", str(data), *arguments]


def rpc(method: str, request_id: int | None = 1, **params: Any) -> dict[str, Any]:
    """Return a request, or without an id a notification."""
    named = {} if request_id is None else {"id": request_id}
    return {"jsonrpc": "2.0", "method": method, "params": params, **named}


def handshake(revision: str) -> list[dict[str, Any]]:
    start = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
    return [rpc("initialize", 0, **start), rpc("notifications/initialized", None)]


def envelope(revision: str = MODERN) -> dict[str, Any]:
    """What every request of the modern era says of its client."""
    prefix = "io.modelcontextprotocol"
    return {
        "_meta": {
            f"{prefix}/protocolVersion": revision,
            f"{prefix}/clientInfo": CLIENT,
            f"{prefix}/clientCapabilities": {},
        }
    }


class SqliteFile(SqliteStore):
    """A data file, looked into beside the doors."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# Standard input and output


@contextmanager
def host(
    portal: BlockingPortal, data: Path, mode: ConnectMode = "auto", *arguments: str
) -> Iterator[McpDoor]:
    """Start the server as a host does, and talk to it."""
    command, *rest = program(data, *arguments)
    parameters = StdioServerParameters(command=command, args=rest, env=dict(os.environ))
    client = Client(stdio_client(parameters), mode=mode)
    with portal.wrap_async_context_manager(client):
        yield McpDoor(portal, client)


def talk(data: Path, *messages: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Send lines, wait for the answers to all requests, and close the input.

    Returns what the program wrote until it ended.
    """
    command = program(data)
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        assert process.stdin
        assert process.stdout
        hung = threading.Timer(30, process.kill)
        hung.start()
        for each in messages:
            process.stdin.write((each if isinstance(each, str) else json.dumps(each)) + "\n")
        process.stdin.flush()
        waited_for = {each["id"] for each in messages if isinstance(each, dict) and "id" in each}
        written = ""
        while waited_for:
            line = process.stdout.readline()
            assert line, process.stderr and process.stderr.read()
            written += line
            waited_for.discard(json.loads(line)["id"])
        rest, errors = process.communicate()
        hung.cancel()
    return subprocess.CompletedProcess(command, process.returncode, written + rest, errors)


def answers(done: subprocess.CompletedProcess[str]) -> dict[object, Any]:
    """Return the answers by their ids; every line of the output must be one."""
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    return {message["id"]: message for message in messages}


@pytest.mark.parametrize(
    ("mode", "protocol"), [("legacy", "2025-11-25"), ("auto", MODERN), (MODERN, MODERN)]
)
def test_a_host_can_use_it_over_standard_input_and_output(
    tmp_path: Path, portal: BlockingPortal, mode: ConnectMode, protocol: str
) -> None:
    with host(portal, tmp_path / "m.db", mode) as mcp:
        assert mcp.client.protocol_version == protocol
        memory = mcp.record(**draft("Grüße \U0001f375\n\u2028"))
        assert ids(mcp.search(q="GRÜSSE")) == [memory["id"]]
    with host(portal, tmp_path / "m.db", mode) as mcp:
        assert mcp.inspect(1) | {"last_accessed_at": None} == memory


def test_two_hosts_and_a_server_on_one_file_share_it_and_mix_nothing(
    tmp_path: Path, portal: BlockingPortal
) -> None:
    data = tmp_path / "m.db"
    with ExitStack() as stack:
        hosts = [stack.enter_context(host(portal, data, "auto", "--agent", name)) for name in "ab"]
        server = stack.enter_context(server_on(data))

        def record(mcp: McpDoor, number: int) -> Any:
            arguments = draft(f"Number {number}")
            return portal.start_task_soon(mcp.client.call_tool, "record_memory", arguments)

        pending = [record(hosts[number % 2], number) for number in range(20)]
        assert not any(each.result(timeout=30).is_error for each in pending)

        for mcp in hosts:
            assert ids(mcp.search(limit=100)) == list(range(1, 21))
        items = server.client.send("GET", "/memories?limit=100").body["items"]
        assert sorted(each["content"] for each in items) == sorted(
            f"Number {number}" for number in range(20)
        )

    with SqliteFile(data) as store:
        made = [store.get(LOCAL, memory_id) for memory_id in range(1, 21)]
        assert sorted(record.agent_id for record in made if record) == ["a"] * 10 + ["b"] * 10


def test_only_the_protocol_is_written_and_a_closed_input_ends_it(tmp_path: Path) -> None:
    call = rpc("tools/call", 1, name="record_memory", arguments=draft())
    wrong = rpc("tools/call", 2, name="record_memory", arguments={})
    unknown = rpc("tools/call", 3, name="nothing", arguments={})

    done = talk(tmp_path / "m.db", *handshake("2025-11-25"), call, wrong, unknown)

    assert (done.returncode, done.stderr) == (0, "")
    assert answers(done).keys() == {0, 1, 2, 3}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.db"]


def test_an_input_that_is_closed_at_once_ends_it(tmp_path: Path) -> None:
    done = talk(tmp_path / "m.db")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_though_the_input_is_open(
    tmp_path: Path, how: signal.Signals
) -> None:
    with subprocess.Popen(
        program(tmp_path / "m.db"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(rpc("ping")) + "\n")
        process.stdin.flush()
        assert process.stdout.readline()

        process.send_signal(how)

        try:
            assert process.wait(timeout=10) == 0
        finally:
            process.kill()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.db"]


def test_a_line_that_is_no_message_does_not_stop_it(tmp_path: Path) -> None:
    done = talk(
        tmp_path / "m.db", *handshake("2025-11-25"), "{", "", "[1]", "null", rpc("tools/list", 7)
    )

    assert done.returncode == 0
    assert len(answers(done)[7]["result"]["tools"]) == len(TOOLS)


@pytest.mark.parametrize("revision", HANDSHAKES)
def test_each_earlier_revision_is_spoken_over_standard_input(tmp_path: Path, revision: str) -> None:
    call = rpc("tools/call", 1, name="search_memories", arguments={})

    seen = answers(talk(tmp_path / "m.db", *handshake(revision), call))

    assert seen[0]["result"]["protocolVersion"] == revision
    assert json.loads(seen[1]["result"]["content"][0]["text"])["total"] == 0


def test_the_agent_is_named_by_an_option_or_a_setting(tmp_path: Path) -> None:
    call = rpc("tools/call", 1, name="record_memory", arguments=draft())

    assert talk(tmp_path / "m.db", *handshake(MODERN), call, MEMORIES_AGENT="editor").stdout

    with SqliteFile(tmp_path / "m.db") as store:
        record = store.get(LOCAL, 1)
        assert record
        assert record.agent_id == "editor"


def test_a_file_that_is_not_ours_is_told_on_the_error_output(tmp_path: Path) -> None:
    (tmp_path / "m.db").write_text("not a database, but long enough to be taken for one " * 100)

    done = talk(tmp_path / "m.db")

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "cannot use" in done.stderr


# Streamable HTTP


@pytest.fixture
def port(url: str) -> int:
    port = urlsplit(url).port
    assert port
    return port


def send(
    port: int,
    message: object,
    headers: dict[str, str] | None = None,
    method: str = "POST",
    path: str = "/mcp",
) -> Answer:
    """Send a request as it is given: no client of MCP stands between."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    body = message if isinstance(message, bytes) else json.dumps(message)
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    try:
        connection.request(method, path, body, usual | (headers or {}))
        answer = connection.getresponse()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, names, answer.read().decode())
    finally:
        connection.close()


def modern_headers(method: str, name: str | None = None) -> dict[str, str]:
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    return headers if name is None else headers | {"Mcp-Name": name}


def record_call(**era: Any) -> dict[str, Any]:
    return rpc("tools/call", name="record_memory", arguments=draft(), **era)


@pytest.mark.parametrize("revision", HANDSHAKES)
def test_each_earlier_revision_is_spoken_over_http_without_a_session(
    port: int, revision: str
) -> None:
    initialize, initialized = handshake(revision)
    version = {"MCP-Protocol-Version": revision}

    answer = send(port, initialize)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.body["result"]["protocolVersion"] == revision
    assert answer.body["result"]["serverInfo"]["name"] == "memories"
    assert "mcp-session-id" not in answer.headers

    assert send(port, initialized, version).status == 202
    assert len(send(port, rpc("tools/list"), version).body["result"]["tools"]) == len(TOOLS)

    answer = send(port, record_call(), version)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.body["result"]["structuredContent"]["id"] == 1
    assert answer.body["result"]["isError"] is False


def test_the_first_revision_with_http_needs_no_version_header(port: int) -> None:
    assert send(port, record_call()).body["result"]["structuredContent"]["id"] == 1


def test_the_revision_of_2026_is_spoken_without_a_handshake(port: int) -> None:
    discover = rpc("server/discover", **envelope())
    answer = send(port, discover, modern_headers("server/discover"))
    assert answer.status == 200
    result = answer.body["result"]
    assert MODERN in result["supportedVersions"]
    assert result["instructions"].startswith("One memory of a person")

    headers = modern_headers("tools/call", "record_memory")
    answer = send(port, record_call(**envelope()), headers)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.body["result"]["resultType"] == "complete"
    assert answer.body["result"]["structuredContent"]["id"] == 1


def test_white_space_around_the_headers_of_the_protocol_does_not_count(port: int) -> None:
    headers = {
        "MCP-Protocol-Version": f" {MODERN} ",
        "Mcp-Method": "  tools/call\t",
        "Mcp-Name": " record_memory  ",
    }

    answer = send(port, record_call(**envelope()), headers)

    assert (answer.status, answer.body["result"]["isError"]) == (200, False)


def test_a_header_that_differs_from_the_body_is_refused(port: int, store: Store) -> None:
    for headers in (
        modern_headers("tools/call", "search_memories"),
        modern_headers("tools/list", "record_memory"),
        modern_headers("tools/call"),
    ):
        answer = send(port, record_call(**envelope()), headers)
        assert (answer.status, answer.body["error"]["code"]) == (400, -32020)
    assert store.get(LOCAL, 1) is None


def test_a_revision_that_is_not_known_is_refused_with_those_that_are(port: int) -> None:
    call = record_call(**envelope("2027-01-01"))
    headers = modern_headers("tools/call", "record_memory") | {"MCP-Protocol-Version": "2027-01-01"}

    answer = send(port, call, headers)

    assert answer.status == 400
    assert answer.body["error"]["data"]["supported"] == [MODERN]


@pytest.mark.parametrize(
    ("mode", "protocol"), [("legacy", "2025-11-25"), ("auto", MODERN), (MODERN, MODERN)]
)
def test_the_sdks_client_speaks_each_era_over_http(
    url: str, portal: BlockingPortal, mode: ConnectMode, protocol: str
) -> None:
    client = Client(f"{url}/mcp", mode=mode)
    with portal.wrap_async_context_manager(client):
        assert client.protocol_version == protocol
        assert McpDoor(portal, client).record(**draft())["id"] == 1


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "OPTIONS"])
def test_any_method_but_post_is_405(port: int, method: str) -> None:
    answer = send(port, b"", {"Accept": "text/event-stream"}, method)

    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert answer.headers["content-type"] == "application/json"


def test_a_path_below_is_not_found_and_nothing_redirects(port: int) -> None:
    for path in ("/mcp/", "/mcp/x", "/MCP", "//mcp"):
        assert send(port, record_call(), path=path).status == 404


def test_a_body_over_one_mebibyte_is_refused(port: int, store: Store) -> None:
    padding = MEBIBYTE - len(json.dumps(record_call()))

    def padded(size: int) -> bytes:
        return json.dumps(record_call()).encode() + b" " * size

    assert send(port, padded(padding + 1)).status == 413
    chunks = iter([padded(padding), b" " * 10])
    assert chunked(port, chunks) == 413
    assert store.get(LOCAL, 1) is None
    assert send(port, padded(padding)).status == 200


def chunked(port: int, chunks: Iterator[bytes]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    try:
        connection.request("POST", "/mcp", chunks, headers, encode_chunked=True)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"", -32700), (b"{", -32700), (b"\xff", -32700), (b"[]", -32602), (b"7", -32602)],
)
def test_a_body_that_is_no_message_is_refused_by_the_protocol(
    port: int, body: bytes, code: int
) -> None:
    answer = send(port, body)

    assert (answer.status, answer.body["error"]["code"]) == (400, code)


@pytest.mark.parametrize("name", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example"])
def test_a_foreign_host_is_refused(port: int, store: Store, name: str) -> None:
    # A page in a browser can point a name of its own at this machine.
    answer = send(port, record_call(), {"Host": name.format(port=port)})

    assert answer.status == 421
    assert store.get(LOCAL, 1) is None


@pytest.mark.parametrize("name", ["localhost", "localhost:{port}", "127.0.0.1:1", "[::1]:{port}"])
def test_the_names_of_this_machine_are_taken(port: int, name: str) -> None:
    assert send(port, record_call(), {"Host": name.format(port=port)}).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://localhost:1",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:{port}.evil.example",
    ],
)
def test_a_page_of_another_origin_is_refused(port: int, store: Store, origin: str) -> None:
    headers = {"Origin": origin.format(port=port)}

    answer = send(port, record_call(), headers)

    assert answer.status == 403
    assert "access-control-allow-origin" not in answer.headers
    assert store.get(LOCAL, 1) is None
    assert preflight(port, headers["Origin"]).status == 400


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_of_its_own_may_call_it(port: int, name: str) -> None:
    origin = f"http://{name}:{port}"

    assert send(port, record_call(), {"Origin": origin}).status == 200


def test_a_page_of_an_allowed_origin_may_call_it(service: MemoryService) -> None:
    origin = "https://app.example"
    with serving(service, Settings(origins=("https://other.example", origin))) as url:
        port = urlsplit(url).port
        assert port
        answer = preflight(port, origin)
        assert answer.status == 200
        assert answer.headers["access-control-allow-origin"] == origin
        assert answer.headers["access-control-allow-methods"] == "POST"
        assert "access-control-allow-credentials" not in answer.headers

        answer = send(port, record_call(), {"Origin": origin})
        assert answer.status == 200
        assert answer.headers["access-control-allow-origin"] == origin
        assert "origin" in answer.headers["vary"].lower()

        assert preflight(port, "https://app.example.evil.example").status == 400


def preflight(port: int, origin: str) -> Answer:
    """Ask, as a browser does, whether a page of ``origin`` may send what a client sends."""
    wanted = "authorization,content-type,mcp-method,mcp-name,mcp-protocol-version,x-agent-id"
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": wanted,
    }
    return send(port, b"", headers, "OPTIONS")


def test_allowed_origins_are_a_setting_of_the_environment() -> None:
    settings = Settings.from_environment({"MEMORIES_ORIGINS": " https://a.example  http://b:1 "})

    assert settings.origins == ("https://a.example", "http://b:1")


def test_the_agent_is_named_by_a_header_and_never_by_an_argument(port: int, store: Store) -> None:
    version = {"MCP-Protocol-Version": "2025-11-25"}
    assert send(port, record_call(), version).status == 200
    assert send(port, record_call(), version | {"X-Agent-Id": "editor"}).status == 200
    named = rpc("tools/call", name="record_memory", arguments=draft(agent_id="someone"))
    assert send(port, named, version).body["result"]["isError"] is True

    made = [store.get(LOCAL, memory_id) for memory_id in (1, 2, 3)]
    assert [record and record.agent_id for record in made] == ["local", "editor", None]


@pytest.mark.parametrize("agent", ["", " ", "x" * 257])
def test_a_name_that_is_none_is_refused(port: int, store: Store, agent: str) -> None:
    answer = send(port, record_call(), {"X-Agent-Id": agent})

    assert answer.body["result"]["isError"] is True
    assert answer.body["result"]["content"][0]["text"].startswith("Not authenticated")
    assert store.get(LOCAL, 1) is None


def test_what_one_door_stores_the_other_finds(
    url: str, port: int, socket_client: SocketClient
) -> None:
    memory = socket_client.send("POST", "/memories", draft("Straße")).body

    call = rpc("tools/call", name="search_memories", arguments={"q": "STRASSE"})
    (found,) = send(port, call).body["result"]["structuredContent"]["items"]

    assert found | {"last_accessed_at": None} == memory

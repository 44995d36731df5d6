"""Contract section 3: errors have one shape, say what to do, and leave nothing behind."""

import logging
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from clock import Clock
from doors import draft
from http_api.app import Handler, build_handler
from http_api.errors import ANSWERS
from http_client import JSON, EventClient, HttpClient, claims_of
from memories.config import Settings
from memories.errors import DomainError
from memories.principal import Principal
from memories.service import MemoryService
from memories.stores.port import NewRecord, Record, Store
from memories.stores.port_idempotency import KeyedRequest
from memories.stores.sqlite import SqliteStore

NO_PATHS = (
    "/ /nowhere /memories/ /memories/1/2 /memories/1/ //memories /%00 /memories%0A /health%0A"
)


@pytest.mark.parametrize("target", NO_PATHS.split())
def test_an_unknown_path_is_404(http: HttpClient, target: str) -> None:
    answer = http.send("GET", target)

    assert (answer.status, answer.body) == (404, {"detail": "Not Found"})


def test_a_missing_memory_is_404(http: HttpClient) -> None:
    for method, body in (("GET", None), ("PATCH", {}), ("DELETE", None)):
        answer = http.send(method, "/memories/7", body)
        assert (answer.status, answer.body) == (404, {"detail": "Memory not found"})


@pytest.mark.parametrize(
    ("method", "target", "allowed"),
    [
        ("PUT", "/memories", "GET, POST"),
        ("DELETE", "/memories", "GET, POST"),
        ("POST", "/memories/1", "DELETE, GET, PATCH"),
        ("OPTIONS", "/memories/1", "DELETE, GET, PATCH"),
        ("POST", "/health", "GET"),
        ("POST", "/docs", "GET"),
        ("PUT", "/memories/%00", "DELETE, GET, PATCH"),
        ("GET", "/memories/batch", "POST"),
        ("DELETE", "/memories/batch", "POST"),
        ("OPTIONS", "/memories/batch", "POST"),
    ],
)
def test_a_method_that_a_path_has_not_is_405(
    http: HttpClient, method: str, target: str, allowed: str
) -> None:
    answer = http.send(method, target)

    assert answer.status == 405
    assert answer.headers["allow"] == allowed
    assert answer.body == {"detail": f"Method Not Allowed; use {allowed}"}


NO_IDS = "abc 0 -1 1.0 +1 1_0 1e3 9223372036854775808 %00 %201 1%20 %D9%A1 %22 %5C %FF 1%0A %0A1"


@pytest.mark.parametrize("memory_id", [*NO_IDS.split(), "9" * 5_000, "%F0%9F%A7%A0"])
def test_an_id_that_is_no_positive_integer_is_422(http: HttpClient, memory_id: str) -> None:
    for method, body in (("GET", None), ("PATCH", {}), ("DELETE", None)):
        answer = http.send(method, f"/memories/{memory_id}", body)
        assert answer.status == 422
        (problem,) = answer.body["detail"]
        assert problem["loc"] == ["path", "memory_id"]
        assert set(problem) == {"type", "loc", "msg"}


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "nothing",
        "{'content': 'x'}",
        '{"content": "x", "tags": ["t"]} extra',
        '{"content": "\\ud800", "tags": ["t"]}',
        '{"content": "a\x00b", "tags": ["t"]}',
        "NaN",
        "[" * 100_000,
        '{"a":' * 100_000,
        b"\xff\xfe\x00",
        b'{"content": "caf\xe9", "tags": ["t"]}',
        "\ufeff{}",
    ],
    ids=lambda body: repr(body[:20]),
)
def test_an_unreadable_body_is_422(http: HttpClient, body: str | bytes) -> None:
    for method, target in (
        ("POST", "/memories"),
        ("POST", "/memories/batch"),
        ("PATCH", "/memories/1"),
    ):
        answer = http.request(method, target, body, JSON)
        assert answer.status == 422
        assert all(problem["loc"][0] == "body" for problem in answer.body["detail"])
    assert http.send("GET", "/memories").body["total"] == 0


@pytest.mark.parametrize("body", ["null", "1", '"text"', "[]", "[{}]", "[[]]"])
def test_a_body_that_is_no_object_is_422(http: HttpClient, body: str) -> None:
    for method, target in (("POST", "/memories"), ("PATCH", "/memories/1")):
        assert http.request(method, target, body, JSON).status == 422


@pytest.mark.parametrize("body", ["null", "1", "{}", '{"content": "x", "tags": ["t"]}', "[1]"])
def test_a_batch_that_is_no_array_of_objects_is_422(http: HttpClient, body: str) -> None:
    assert http.request("POST", "/memories/batch", body, JSON).status == 422


@pytest.mark.parametrize(
    "media_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/merge-patch+json",
        "json",
        "",
    ],
)
def test_a_body_that_is_not_sent_as_json_is_415(http: HttpClient, media_type: str) -> None:
    body = '{"content": "x", "tags": ["t"]}'
    headers = {"content-type": media_type} if media_type else {}

    answer = http.request("POST", "/memories", body, headers)

    assert answer.status == 415
    assert "application/json" in answer.body["detail"]
    assert http.send("GET", "/memories").body["total"] == 0


def test_a_body_of_one_mebibyte_is_read_and_one_more_byte_is_413(http: HttpClient) -> None:
    start, end = '{"content": "x", "tags": ["t"]', "}"
    most = start + " " * (1024 * 1024 - len(start) - len(end)) + end

    assert http.request("POST", "/memories", most, JSON).status == 201
    answer = http.request("POST", "/memories", " " + most, JSON)
    assert answer.status == 413
    assert set(answer.body) == {"detail"}
    assert answer.headers["x-request-id"]
    assert http.send("GET", "/memories").body["total"] == 1


def test_the_size_is_counted_in_bytes(http: HttpClient) -> None:
    body = '{"content": "x", "tags": ["t"]}' + "\u3000" * 400_000

    assert http.request("POST", "/memories", body.encode(), JSON).status == 413


@pytest.mark.parametrize(
    ("target", "where"),
    [
        ("/memories?limit=10&limit=20", ["query", "limit"]),
        ("/memories?tag=a&tag=b", ["query", "tag"]),
        ("/memories?Limit=10", ["query", "Limit"]),
        ("/memories?view", ["query", "view"]),
        ("/memories?%00=1", ["query", "\x00"]),
        ("/memories?" + "x" * 5_000 + "=1", ["query", "x" * 64]),
        ("/memories?q=%FF", ["query"]),
        ("/memories?limit=" + "9" * 5_000, ["query", "limit"]),
        ("/memories/1?view=all", ["query", "view"]),
        ("/health?deep=1", ["query", "deep"]),
    ],
)
def test_a_repeated_or_unknown_or_unreadable_parameter_is_422(
    http: HttpClient, target: str, where: list[str]
) -> None:
    answer = http.send("GET", target)

    assert answer.status == 422
    assert [problem["loc"] for problem in answer.body["detail"]] == [where]


def test_every_fault_of_an_input_is_told_at_once(http: HttpClient) -> None:
    answer = http.send("POST", "/memories", {"content": "", "tags": "a", "colour": 1})

    assert [problem["loc"] for problem in answer.body["detail"]] == [
        ["body", "content"],
        ["body", "tags"],
        ["body", "colour"],
    ]


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"client_id": "agent"},
        {"sub": "user"},
        {"sub": " ", "client_id": "agent"},
        {"sub": "user", "client_id": "x" * 257},
        {"sub": "us\x00er", "client_id": "agent"},
    ],
    ids=repr,
)
def test_who_is_not_named_by_a_token_is_401(handler: Handler, claims: dict[str, str]) -> None:
    answer = EventClient(handler, claims).send("GET", "/memories", x_agent_id="agent")

    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.body["detail"].startswith("Not authenticated")


@pytest.mark.parametrize(
    ("method", "target", "body", "needed"),
    [
        ("GET", "/memories", None, "memories:read"),
        ("GET", "/memories/1", None, "memories:read"),
        ("POST", "/memories", draft(), "memories:write"),
        ("POST", "/memories/batch", [draft()], "memories:write"),
        ("PATCH", "/memories/1", {"content": "x"}, "memories:write"),
        ("DELETE", "/memories/1", None, "memories:write"),
    ],
)
def test_without_the_scope_an_operation_is_403(
    handler: Handler, method: str, target: str, body: object, needed: str
) -> None:
    other = {"memories:read": "memories:write", "memories:write": "memories:read"}[needed]
    allowed = EventClient(handler, claims_of("user", scopes=f"openid {needed}"))
    refused = EventClient(handler, claims_of("user", scopes=f"{other} {needed}s"))

    assert allowed.send(method, target, body).status in {200, 201, 404}
    answer = refused.send(method, target, body)
    assert (answer.status, answer.body) == (403, {"detail": f"This needs the scope {needed}"})
    assert needed in answer.headers["www-authenticate"]


def test_users_never_meet(handler: Handler) -> None:
    one, two = (EventClient(handler, claims_of(user)) for user in ("one", "two"))
    one.send("POST", "/memories", draft("Likes tea"))
    one.send("POST", "/memories", draft("Likes cake"))

    assert two.send("POST", "/memories", draft("Likes tea")).body["id"] == 1
    assert two.send("GET", "/memories?q=likes&tag=test").body["total"] == 1
    for method, body in (("GET", None), ("PATCH", {"content": "x"}), ("DELETE", None)):
        assert two.send(method, "/memories/2", body).status == 404
    assert one.send("GET", "/memories").body["total"] == 2


class BrokenStore(SqliteStore):
    """A store with a fault in its program."""

    def create(
        self,
        principal: Principal,
        drafts: Sequence[NewRecord],
        request: KeyedRequest | None = None,
    ) -> list[Record]:
        raise RuntimeError(
            f"{principal} wrote {drafts[0].content} by {request} at /var/task/app.py in table t"
        )


def test_an_unexpected_fault_is_500_and_shows_nothing(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    store = BrokenStore(tmp_path / "memories.db")
    client = EventClient(build_handler(MemoryService(store, clock), Settings()))

    with caplog.at_level(logging.ERROR):
        answer = client.send("POST", "/memories", draft("Private words"))

    assert (answer.status, answer.body) == (500, {"detail": "Internal Server Error"})
    assert answer.headers["x-request-id"]
    assert "RuntimeError" in caplog.text
    assert "Private words" not in caplog.text
    store.close()


def test_a_store_that_cannot_be_written_is_503_and_nothing_is_lost(
    http: HttpClient, store: Store, tmp_path: Path
) -> None:
    http.send("POST", "/memories", draft())
    other = sqlite3.connect(tmp_path / "memories.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")  # another program holds the file for longer than we wait

    for method, target, body in (
        ("POST", "/memories", draft()),
        ("POST", "/memories/batch", [draft(), draft()]),
        ("PATCH", "/memories/1", {"content": "New"}),
        ("DELETE", "/memories/1", None),
        ("GET", "/memories/1", None),
        ("GET", "/memories", None),
    ):
        answer = http.send(method, target, body)
        assert answer.status == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.body == {"detail": "The store is unavailable; try again"}
    ready = http.send("GET", "/ready")
    assert (ready.status, ready.body) == (
        503,
        {"status": "not_ready", "checks": {"store": "failed"}},
    )
    assert http.send("GET", "/health").status == 200

    other.execute("ROLLBACK")
    other.close()
    page = http.send("GET", "/memories").body
    assert [memory["content"] for memory in page["items"]] == ["Likes tea"]
    assert http.send("GET", "/ready").status == 200


def test_a_store_that_fails_on_the_last_of_a_batch_stores_none(
    http: HttpClient, tmp_path: Path, store: Store
) -> None:
    other = sqlite3.connect(tmp_path / "memories.db", isolation_level=None)
    other.execute(
        "CREATE TRIGGER fault BEFORE INSERT ON memories WHEN new.content = 'last' "
        "BEGIN SELECT raise(ABORT, 'disk fault'); END"
    )

    answer = http.send("POST", "/memories/batch", [draft("first"), draft("last")])
    assert answer.status == 503
    assert "fault" not in answer.text
    assert http.send("GET", "/memories").body["total"] == 0

    other.execute("DROP TRIGGER fault")
    other.close()
    answer = http.send("POST", "/memories/batch", [draft("first"), draft("last")])
    assert [memory["id"] for memory in answer.body] == [1, 2]


def test_every_domain_error_has_an_answer_of_its_own() -> None:
    assert set(ANSWERS) == set(DomainError.__subclasses__())


@pytest.mark.parametrize(
    "body",
    [
        '{"content":"x","tags":[' + "1," * 400_000 + "1]}",
        '{"content":"x","tags":["t"],' + ",".join(f'"f{n}":1' for n in range(50_000)) + "}",
        '{"content":"x","tags":["t"],"' + "n" * 1_000_000 + '":1}',
    ],
    ids=["tags", "fields", "a name"],
)
def test_a_body_full_of_faults_is_told_the_first_of_them(http: HttpClient, body: str) -> None:
    answer = http.request("POST", "/memories", body, JSON)

    assert answer.status == 422
    assert len(answer.text) < 5_000
    assert len(answer.body["detail"]) <= 21

"""Contract section 3: what each route answers."""

import json

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from clock import Clock
from doors import draft
from http_client import JSON, HttpClient


def test_a_create_answers_201_with_location_and_etag(http: HttpClient) -> None:
    answer = http.send("POST", "/memories", draft())

    assert answer.status == 201
    assert answer.headers["location"] == "/memories/1"
    assert answer.headers["etag"] == '"1"'
    assert answer.headers["content-type"] == "application/json"
    assert http.send("GET", answer.headers["location"]).body["content"] == "Likes tea"


def test_a_batch_answers_201_and_the_memories(http: HttpClient) -> None:
    answer = http.send("POST", "/memories/batch", [draft("a"), draft("b")])

    assert answer.status == 201
    assert [(memory["id"], memory["content"]) for memory in answer.body] == [(1, "a"), (2, "b")]


def test_reads_and_writes_of_one_memory_carry_its_version_as_etag(http: HttpClient) -> None:
    http.send("POST", "/memories", draft())

    assert http.send("PATCH", "/memories/1", {"content": "New"}).headers["etag"] == '"2"'
    assert http.send("GET", "/memories/1").headers["etag"] == '"2"'
    assert http.send("DELETE", "/memories/1").headers["etag"] == '"2"'


def test_text_travels_as_utf8_and_is_not_escaped(http: HttpClient) -> None:
    http.send("POST", "/memories", draft("太郎 🧠"))

    assert '"content":"太郎 🧠"' in http.send("GET", "/memories/1").text


def test_health_and_readiness(http: HttpClient) -> None:
    assert http.send("GET", "/health").body == {"status": "ok"}
    assert http.send("GET", "/ready").body == {"status": "ready", "checks": {"store": "ok"}}


def test_the_api_describes_itself(http: HttpClient) -> None:
    answer = http.send("GET", "/openapi.json")

    document = answer.body
    validate(document)
    operations = {
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method in methods
    }
    assert operations == {
        "POST /memories",
        "POST /memories/batch",
        "GET /memories",
        "GET /memories/{memory_id}",
        "PATCH /memories/{memory_id}",
        "DELETE /memories/{memory_id}",
        "GET /memories/{memory_id}/permissions",
        "PUT /memories/{memory_id}/permissions",
        "GET /export",
        "POST /import",
        "GET /agents",
        "GET /agents/{agent_id}",
        "PUT /agents/{agent_id}",
        "GET /me",
        "PATCH /me",
        "DELETE /agents/{agent_id}",
        "DELETE /me",
        "GET /tags",
        "GET /memories/{memory_id}/relations",
        "PUT /memories/{memory_id}/relations/{relation_type}/{to_id}",
        "DELETE /memories/{memory_id}/relations/{relation_type}/{to_id}",
        "GET /memories/{memory_id}/access-log",
        "GET /health",
        "GET /ready",
    }
    limit = next(
        parameter
        for parameter in document["paths"]["/memories"]["get"]["parameters"]
        if parameter["name"] == "limit"
    )
    assert limit["schema"]["minimum"] == 1
    assert document["components"]["schemas"]["MemoryDraft"]["additionalProperties"] is False


def test_the_document_says_which_operations_follow_another(http: HttpClient) -> None:
    paths = http.send("GET", "/openapi.json").body["paths"]

    links = paths["/memories"]["post"]["responses"]["201"]["links"]

    followed = {"inspect_memory", "revise_memory", "retire_memory", "get_permissions"}
    assert followed <= links.keys()
    assert links["inspect_memory"] == {
        "operationId": "inspect_memory",
        "parameters": {"memory_id": "$response.body#/id"},
    }


@pytest.mark.parametrize("text", ["", " ", "\u2003\n", "a\x00", "\x1f"], ids=repr)
def test_what_the_document_says_of_a_text_is_what_is_held(http: HttpClient, text: str) -> None:
    schemas = http.send("GET", "/openapi.json").body["components"]["schemas"]
    content = Draft202012Validator(schemas["MemoryDraft"]["properties"]["content"])

    assert content.is_valid("a\tb\r\n \x7f")
    assert not content.is_valid(text)
    assert http.send("POST", "/memories", draft(text)).status == 422


def test_the_docs_are_a_page_that_needs_nothing_from_elsewhere(http: HttpClient) -> None:
    answer = http.send("GET", "/docs")

    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-frame-options"] == "DENY"
    assert "Record a memory" in answer.text
    assert "<script src=" not in answer.text
    assert "?format=json" not in answer.text
    assert "<link rel='stylesheet' type='text/css' href=" not in answer.text


@pytest.mark.parametrize("target", ["/health", "/memories", "/memories/9", "/nowhere", "/docs"])
def test_every_answer_carries_the_request_id_and_says_how_to_treat_it(
    http: HttpClient, target: str
) -> None:
    sent = http.send("GET", target, x_request_id="a-Z.0_9:" + "x" * 120)
    new = [http.send("GET", target).headers["x-request-id"] for _ in range(2)]

    assert sent.headers["x-request-id"] == "a-Z.0_9:" + "x" * 120
    assert new[0] != new[1]
    assert sent.headers["x-content-type-options"] == "nosniff"
    assert sent.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("wrong", ["", "a b", "x" * 129, "a\tb", "<script>"])
def test_a_request_id_of_another_form_is_replaced(http: HttpClient, wrong: str) -> None:
    assert len(http.send("GET", "/health", x_request_id=wrong).headers["x-request-id"]) == 36


@pytest.mark.parametrize("tag", ['"2"', "*"])
def test_if_match_lets_a_write_through(http: HttpClient, tag: str) -> None:
    http.send("POST", "/memories", draft())
    http.send("PATCH", "/memories/1", {"content": "Second"})

    assert http.send("PATCH", "/memories/1", {"content": "Third"}, if_match=tag).status == 200
    assert http.send("DELETE", "/memories/1", if_match=tag.replace("2", "3")).status == 200


@pytest.mark.parametrize(
    "tag", ['"1"', '"3"', '"0"', '"02"', '"two"', '""', 'W/"2"', f'"{10**30}"']
)
def test_if_match_of_another_version_is_412_with_the_memory_and_its_etag(
    http: HttpClient, tag: str
) -> None:
    http.send("POST", "/memories", draft())
    current = http.send("PATCH", "/memories/1", {"content": "Second"}).body

    for answer in (
        http.send("PATCH", "/memories/1", {"content": "Third"}, if_match=tag),
        http.send("DELETE", "/memories/1", if_match=tag),
    ):
        assert answer.status == 412
        assert answer.headers["etag"] == '"2"'
        assert answer.body["memory"] == current
        assert "version 2" in answer.body["detail"]
    assert http.send("PATCH", "/memories/1", {}).body == current


@pytest.mark.parametrize("tag", ["2", "two", '"1", "2"', "'2'", '"2', ""])
def test_if_match_of_another_form_is_422(http: HttpClient, tag: str) -> None:
    http.send("POST", "/memories", draft())

    answer = http.send("PATCH", "/memories/1", {"content": "New"}, if_match=tag)

    assert (answer.status, answer.body["detail"][0]["loc"]) == (422, ["header", "If-Match"])


@pytest.mark.parametrize(
    ("target", "body"), [("/memories", draft()), ("/memories/batch", [draft()])]
)
def test_a_repeat_has_the_first_answer_and_says_that_it_is_one(
    http: HttpClient, target: str, body: object
) -> None:
    first = http.send("POST", target, body, idempotency_key="k")
    again = http.send("POST", target, body, idempotency_key="k")

    assert (again.status, again.text) == (first.status, first.text) == (201, first.text)
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    for name in ("etag", "location"):
        assert again.headers.get(name) == first.headers.get(name)


def test_a_key_of_another_request_is_a_fault_in_the_header(http: HttpClient) -> None:
    http.send("POST", "/memories", draft(), idempotency_key="k")
    reused = http.send("POST", "/memories", draft("Another"), idempotency_key="k")
    wrong = http.send("POST", "/memories", draft(), idempotency_key="x" * 256)

    for answer in (reused, wrong):
        assert answer.status == 422
        assert answer.body["detail"][0]["loc"] == ["header", "Idempotency-Key"]


@pytest.mark.parametrize("target", ["/memories?q=a+b%2Bc", "/memories?q=a%20b%2Bc"])
def test_the_query_is_decoded_once(http: HttpClient, clock: Clock, target: str) -> None:
    http.send("POST", "/memories", draft("a b+c"))
    http.send("POST", "/memories", draft("100%25"))

    assert http.send("GET", target).body["total"] == 1
    assert http.send("GET", "/memories?q=%2525").body["total"] == 1


def test_json_may_be_sent_with_a_charset_and_in_any_layout(http: HttpClient) -> None:
    answer = http.request(
        "POST",
        "/memories",
        json.dumps(draft("caf\u00e9"), indent=4).encode(),
        JSON | {"content-type": "Application/JSON; charset=utf-8"},
    )

    assert (answer.status, answer.body["content"]) == (201, "caf\u00e9")

"""Input that is made to break a parser: each is refused, and none is a fault of the service."""

import json
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doors import draft
from http_api.app import Handler
from http_api.operations import OPERATIONS
from http_client import JSON, NO_TLS, HttpClient, claims_of, event_of

DEEP = 100_000

# Bodies that are JSON, or nearly.
NUMBERS = ["1e999", "-1e999", "9" * 5_000, "1e-999", "NaN", "Infinity", "-0", "0x10", "1_000", "1."]
TWISTED = [
    "[" * DEEP,
    "[" * DEEP + "]" * DEEP,
    '{"a":' * DEEP,
    '{"a":' * DEEP + "1" + "}" * DEEP,
    '{"content":"x","tags":' + "[" * 150 + "]" * 150 + "}",
    '"\\ud800"',
    "\ufeff{}",
    '{"content":"x","tags":["t"],}',
    "{'content':'x'}",
    "// {}",
    '{"content":"x"\x00}',
]


@pytest.mark.parametrize("body", TWISTED, ids=lambda body: repr(body[:12]))
def test_a_body_that_is_twisted_is_refused(http: HttpClient, body: str) -> None:
    for method, target in (("POST", "/memories"), ("POST", "/memories/batch"), ("PATCH", "/me")):
        assert http.request(method, target, body, JSON).status == 422
    assert http.send("GET", "/memories").body["total"] == 0


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_that_is_none_or_too_large_is_refused(http: HttpClient, number: str) -> None:
    body = f'{{"content":"x","tags":["t"],"importance":{number}}}'

    assert http.request("POST", "/memories", body, JSON).status == (201 if number == "-0" else 422)


def test_of_a_name_that_is_sent_twice_the_last_counts(http: HttpClient) -> None:
    body = '{"content":"first","content":"last","tags":["t"]}'

    assert http.request("POST", "/memories", body, JSON).body["content"] == "last"


def send_mcp(url: str, body: bytes) -> httpx.Response:
    return httpx.post(
        f"{url}/mcp",
        content=body,
        headers={
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-11-25",
        },
        timeout=30,
        verify=NO_TLS,
    )


def call(arguments: str) -> bytes:
    return (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
        f'{{"name":"record_memory","arguments":{arguments}}}}}'
    ).encode()


@pytest.mark.parametrize("body", TWISTED, ids=lambda body: repr(body[:12]))
def test_a_message_that_is_twisted_is_refused(url: str, body: str) -> None:
    for sent in (body.encode(), call(body)):
        answer = send_mcp(url, sent)
        told = answer.json()
        assert answer.status_code in {200, 400}
        assert "error" in told or told["result"]["isError"]
        assert "Internal" not in answer.text
        assert len(answer.text) < 5_000


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_that_a_tool_cannot_take_is_refused(url: str, number: str) -> None:
    answer = send_mcp(url, call(f'{{"content":"x","tags":["t"],"importance":{number}}}'))

    told = answer.json()
    assert answer.status_code in {200, 400}
    assert "Internal" not in answer.text
    assert ("error" in told or told["result"]["isError"]) is (number != "-0")


@pytest.mark.parametrize("body", [b"\xff\xfe{}", b"\xc3\x28", b"", b"\x00" * 1_000], ids=repr)
def test_bytes_that_are_no_message_are_refused(url: str, body: bytes) -> None:
    answer = send_mcp(url, body)

    assert answer.status_code == 400
    assert "error" in answer.json()


# Anything at all, straight to the handler as an event.

paths = st.one_of(
    st.sampled_from([operation.path for operation in OPERATIONS]).flatmap(
        lambda path: st.text(max_size=30).map(lambda text: path.replace("<memory_id>", text))
    ),
    st.text(max_size=60).map(lambda text: f"/{text}"),
    st.sampled_from(["/memories/1", "/memories", "/me", "/agents/local", "/import", "/export"]),
)
queries = st.one_of(
    st.text(alphabet="&=%+;#?/\x00\xffqtaglimitoffset0123456789ABCDEF", max_size=80),
    st.lists(
        st.tuples(
            st.sampled_from(["q", "tag", "limit", "offset", "sort", "view", "status", "x"]),
            st.text(max_size=20),
        ),
        max_size=40,
    ).map(lambda pairs: "&".join(f"{name}={value}" for name, value in pairs)),
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner),
    max_leaves=12,
)
likely = st.fixed_dictionaries(
    {"content": st.text(max_size=40) | values, "tags": st.lists(st.text(max_size=12)) | values},
    optional=dict.fromkeys(("memory_type", "status", "importance", "metadata", "id"), values),
)
bodies = st.one_of(
    st.none(),
    st.binary(max_size=200),
    st.text(max_size=200),
    values.map(json.dumps),
    likely.map(json.dumps),
    st.lists(likely, max_size=3).map(json.dumps),
)
headers = st.fixed_dictionaries(
    {"content-type": st.sampled_from(["application/json", "application/x-ndjson", "text/plain"])},
    optional={
        name: st.text(max_size=40)
        for name in ("if-match", "idempotency-key", "x-request-id", "authorization", "accept")
    },
)
methods = st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "BREW"])


@settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(method=methods, path=paths, query=queries, body=bodies, sent=headers)
def test_no_event_is_a_fault_of_the_service(
    handler: Handler, method: str, path: str, query: str, body: Any, sent: dict[str, str]
) -> None:
    event = event_of(method, "/", body, sent, claims_of("someone"))
    event |= {"rawPath": path, "rawQueryString": query}
    event["requestContext"]["http"]["path"] = path

    answer = handler(event, None)

    assert answer["statusCode"] < 500
    if answer["statusCode"] >= 400:
        assert json.loads(answer["body"])["detail"]


def test_a_batch_of_arguments_that_are_not_called_for_is_told_in_short(url: str) -> None:
    names = ",".join(f'"n{number}":1' for number in range(50_000))

    answer = send_mcp(url, call(f"{{{names}}}"))

    assert answer.json()["result"]["isError"]
    assert len(answer.text) < 5_000
    assert send_mcp(url, call(json.dumps(draft()))).json()["result"]["isError"] is False

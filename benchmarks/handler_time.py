"""The time that the function's handler takes, beside a bare handler that makes the same calls.

Both are in one process, on clients whose calls are answered at once with what an emulator answered
to the same calls before: what is measured is the code, not the network and not DynamoDB. The bare
handler reads the event's JSON, makes the calls with what was sent the first time, and writes JSON.

It is run as a program of its own, since the function writes its log to the standard output:
``python benchmarks/handler_time.py ROUNDS CALLS`` writes the rows as JSON to the standard error.
"""

import json
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import boto3
from botocore.awsrequest import AWSResponse
from moto import mock_aws

import costs
import seed
import starts
from http_api.app import deployed

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

EVENTS = Path(__file__).parents[1] / "events"
_FIELDS = (
    *("id", "content", "tags", "created_at", "updated_at", "last_accessed_at"),
    *("memory_type", "status", "version"),
)


@dataclass(frozen=True, slots=True)
class HandlerTime:
    """Milliseconds of a request, each the median of the rounds, and the median of the ratios."""

    operation: str
    calls: int
    handler: float
    bare: float
    ratio: float


class _Context:
    aws_request_id = "00000000-0000-4000-8000-000000000000"
    function_name = "http_api"
    memory_limit_in_mb = 1024
    invoked_function_arn = "arn:aws:lambda:eu-central-1:000000000000:function:http_api"


class _Raw:
    """The body of an answer, as urllib3 gives it."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._content


@dataclass(slots=True)
class Tape:
    """What one operation sent, and what each kind of call was answered, in order."""

    sent: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    answers: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))


class Deck:
    """Takes down on a tape what clients send and are answered, and gives it again."""

    def __init__(self, events: Any) -> None:
        """``events`` are those of a session whose clients are to come."""
        self._lock = Lock()
        self._given: dict[str, int] = defaultdict(int)
        self._tape = Tape()
        self._playing = False
        events.register_first("provide-client-params.dynamodb", self._send)
        events.register_first("before-send.dynamodb", self._answer)
        events.register("response-received.dynamodb", self._take_down)

    def record(self) -> Tape:
        """Begin a new tape, and return it."""
        self._tape = Tape()
        return self._tape

    def play(self, tape: Tape) -> None:
        """From now on answer at once, to each kind of call what it was answered, in turns."""
        self._tape, self._playing = tape, True
        self._given.clear()

    def _send(self, params: dict[str, Any], model: Any, context: Any, **_: Any) -> None:
        if not self._playing:
            self._tape.sent.append((model.name, dict(params)))
            context["kind"] = _kind(model.name, "IndexName" in params)

    def _take_down(self, response_dict: Any, context: Any, **_: Any) -> None:
        if not self._playing:
            self._tape.answers[context["kind"]].append(response_dict["body"])

    def _answer(self, request: Any, **_: Any) -> AWSResponse | None:
        if not self._playing:
            return None
        operation = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
        kind = _kind(operation, b'"IndexName"' in request.body)
        with self._lock:
            answers = self._tape.answers[kind]
            body = answers[self._given[kind] % len(answers)]
            self._given[kind] += 1
        headers: Any = {}
        return AWSResponse(request.url, 200, headers, _Raw(body))


def measure(rounds: int, calls: int) -> list[HandlerTime]:
    """Return a row for each operation; ``calls`` are made of each handler in each round."""
    os.environ.update(starts.ENVIRONMENT)
    tapes: list[tuple[str, dict[str, Any], Tape]] = []
    with mock_aws():
        boto3.setup_default_session()
        assert boto3.DEFAULT_SESSION
        deck = Deck(boto3.DEFAULT_SESSION.events)
        client = boto3.client("dynamodb")
        costs.create_tables(client)
        handler = deployed()
        for event in [_event("POST", "/memories/batch", body=[_draft(n) for n in range(20)])] * 2:
            _answered(handler, event)
        for name, event in _events().items():
            tape = deck.record()
            _answered(handler, event)
            tapes.append((name, event, tape))
    # The emulator would do each call too, though its answer is not taken.
    found = []
    for name, event, tape in tapes:
        deck.play(tape)
        both = (handler, bare_handler(client, tape.sent))
        ours, least = _times(event, both, rounds, calls)
        found.append(
            HandlerTime(
                name,
                len(tape.sent),
                round(statistics.median(ours), 3),
                round(statistics.median(least), 3),
                round(statistics.median(a / b for a, b in zip(ours, least, strict=True)), 3),
            )
        )
    return found


def _answered(handler: Handler, event: dict[str, Any]) -> None:
    answer = handler(event, _Context())
    assert answer["statusCode"] in {200, 201}, answer


def _events() -> dict[str, dict[str, Any]]:
    page = "sort=updated_at"
    return {
        "create": _event("POST", "/memories", body=_draft(50)),
        "batch of 25": _event(
            "POST", "/memories/batch", body=[_draft(n) for n in range(seed.BATCH)]
        ),
        "read one": _event("GET", "/memories/7"),
        "patch": _event("PATCH", "/memories/8", body={"content": "Something else by now"}),
        "page of ten": _event("GET", "/memories", query=page),
        "page of ten, q": _event("GET", "/memories", query=f"{page}&q={seed.RARE}"),
    }


def _times(
    event: dict[str, Any], both: tuple[Handler, Handler], rounds: int, calls: int
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of a request of each handler, in each round."""
    times: tuple[list[float], list[float]] = ([], [])
    # The first round is to warm up.
    for turn in range(rounds + 1):
        for each, found in zip(both, times, strict=True):
            context = _Context()
            started = time.perf_counter()
            for _ in range(calls):
                each(event, context)
            if turn:
                found.append((time.perf_counter() - started) / calls * 1000)
    return times


def bare_handler(client: Any, sent: list[tuple[str, dict[str, Any]]]) -> Handler:
    """Return a handler that makes the calls that were sent, and answers with what they found."""
    calls = [(getattr(client, _method(name)), params) for name, params in sent]

    def handler(event: dict[str, Any], _: Any) -> dict[str, Any]:
        if event.get("body"):
            json.loads(event["body"])
        found: list[Any] = []
        for call, params in calls:
            answer = call(**params)
            if "Attributes" in answer:
                found = [answer["Attributes"]]
            elif "Responses" in answer and isinstance(answer["Responses"], dict):
                found = [item for items in answer["Responses"].values() for item in items]
        body = json.dumps([_shown(item) for item in found])
        headers = {"Content-Type": "application/json"}
        return {"statusCode": 200, "headers": headers, "body": body}

    return handler


def _shown(item: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain(item[name]) for name in _FIELDS if name in item}


def _plain(attribute: dict[str, Any]) -> Any:
    ((kind, value),) = attribute.items()
    if kind == "N":
        return int(value)
    return [_plain(each) for each in value] if kind == "L" else value


def _event(method: str, path: str, query: str = "", body: object = None) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / "search_memories.json").read_text())
    event |= {"routeKey": f"{method} /{{proxy+}}", "rawPath": path, "rawQueryString": query}
    event["queryStringParameters"] = dict(pair.split("=") for pair in query.split("&") if pair)
    event["requestContext"]["http"] |= {"method": method, "path": path}
    if body is not None:
        event["headers"]["content-type"] = "application/json"
        event["body"] = json.dumps(body)
    return event


def _draft(number: int) -> dict[str, Any]:
    # As long as a memory usually is; ten hold the text that is searched for.
    text = f"{seed.RARE if number % 4 == 0 else 'ordinary'} {number} ".ljust(costs.USUAL, "x")
    return {"content": text, "tags": ["drink", "preference"]}


def _kind(operation: str, of_index: bool) -> str:
    return f"{operation} of an index" if of_index else operation


def _method(operation: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in operation)[1:]


def main() -> None:
    rounds, calls = map(int, sys.argv[1:])
    json.dump([asdict(row) for row in measure(rounds, calls)], sys.stderr)


if __name__ == "__main__":
    main()

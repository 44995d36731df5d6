"""The log line and the metrics of a request: what they say, and what they never do."""

import json
import logging
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from http_api.app import Handler, build_handler
from http_api.observability import Observer
from http_api.operations import OPERATIONS
from log_lines import forget_logger
from memories.config import Settings
from memories.errors import StoreUnavailable
from memories.service import MemoryService
from memories.stores.port import Record
from memories.stores.sqlite import SqliteStore

SECRET = "the-treasure-is-under-the-oak"


@dataclass
class Context:
    aws_request_id: str = "function-request-1"


class Throttled(Exception):
    """What botocore raises, as far as it is looked at."""

    def __init__(self, code: str) -> None:
        self.response = {"Error": {"Code": code}}


class FailingStore(SqliteStore):
    """A store that finds no page, but fails as it is told to."""

    def __init__(self, path: Path, error: Exception, cause: Exception | None = None) -> None:
        super().__init__(path)
        self._error = error
        self._cause = cause

    def page(self, *_: object, **__: object) -> tuple[list[Record], int]:
        raise self._error from self._cause


class Deployment:
    """A handler that is observed, over a store."""

    def __init__(self, store: SqliteStore, settings: Settings) -> None:
        self.store = store
        observer = Observer(settings, "a-function")
        service = MemoryService(observer.watched(self.store))
        self.handler: Handler = observer.observed(build_handler(service, settings))

    def __call__(
        self, method: str, path: str, body: Any = None, query: str = "", if_match: str = "*"
    ) -> dict[str, Any]:
        claims = {"sub": "user-1", "client_id": "agent-1", "scope": "memories:read memories:write"}
        event = {
            "version": "2.0",
            "rawPath": path,
            "rawQueryString": query,
            "headers": {
                "content-type": "application/json",
                "if-match": if_match,
                "authorization": "Bearer " + SECRET,
                "x-request-id": "caller-1",
            },
            "requestContext": {
                "http": {"method": method, "path": path},
                "authorizer": {"jwt": {"claims": claims}},
                "stage": "$default",
            },
            "body": None if body is None else json.dumps(body),
            "isBase64Encoded": False,
        }
        return self.handler(event, Context())


Deploy = Callable[..., Deployment]


@pytest.fixture
def deploy(tmp_path: Path) -> Iterator[Deploy]:
    """Deploys the function over a store, and closes what was deployed."""
    with ExitStack() as stack:

        def deploy(store: SqliteStore | None = None, **settings: Any) -> Deployment:
            deployed = Deployment(
                store or SqliteStore(tmp_path / "memories.db"), Settings(**settings)
            )
            stack.callback(deployed.store.close)
            return deployed

        yield deploy


class Written:
    """What was written to the standard output since the test began."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture
        self._text = ""

    def text(self) -> str:
        self._text += self._capture.readouterr().out
        return self._text

    def lines(self) -> list[dict[str, Any]]:
        return [line for line in self._all() if "_aws" not in line]

    def metrics(self) -> list[dict[str, Any]]:
        return [line for line in self._all() if "_aws" in line]

    def _all(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text().splitlines()]


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Iterator[Written]:
    forget_logger("http_api")
    yield Written(capsys)
    forget_logger("http_api")


def test_each_request_is_one_line_with_its_route_status_and_times(
    deploy: Deploy, written: Written
) -> None:
    deployed = deploy()
    deployed("POST", "/memories", {"content": "Likes tea", "tags": ["drink"]})
    deployed("GET", "/memories/1")
    first, second = written.lines()
    assert first["message"] == "request"
    assert first["request_id"] == "caller-1"
    assert first["function_request_id"] == "function-request-1"
    assert (first["route"], first["status"]) == ("POST /memories", 201)
    assert (second["route"], second["status"]) == ("GET /memories/<memory_id>", 200)
    assert (first["cold_start"], second["cold_start"]) == (True, False)
    assert 0 < first["store_ms"] <= first["latency_ms"]
    assert first["timestamp"].endswith("+00:00") or first["timestamp"].endswith("Z")


def test_nothing_a_person_sent_is_written(deploy: Deploy, written: Written) -> None:
    deployed = deploy(log_level="DEBUG")
    body = {"content": SECRET, "tags": [SECRET]}
    assert deployed("POST", "/memories", body)["statusCode"] == 201
    assert deployed("POST", "/memories", {"content": SECRET})["statusCode"] == 422
    assert deployed("GET", "/memories", query=f"q={SECRET}")["statusCode"] == 200
    assert deployed("GET", f"/memories/{SECRET}")["statusCode"] == 422
    assert deployed("GET", f"/{SECRET}")["statusCode"] == 404
    assert SECRET not in written.text()
    assert "user-1" not in written.text()
    assert "agent-1" not in written.text()


def test_no_operation_writes_what_it_is_sent(deploy: Deploy, written: Written) -> None:
    deployed = deploy(log_level="DEBUG")
    draft = {"content": SECRET, "tags": [SECRET], "source": SECRET, "name": SECRET}
    bodies: list[Any] = [draft, [draft], {"content": SECRET, "tags": [SECRET]}, SECRET]
    statuses = set()
    for operation in OPERATIONS:
        for parameter in ("1", SECRET):
            path = re.sub(r"<\w+>", parameter, operation.path)
            for body in bodies if operation.body is not None else [None]:
                answer = deployed(operation.method, path, body, query=f"q={SECRET}")
                statuses |= {answer["statusCode"]}
                answer = deployed(operation.method, path, body, if_match=SECRET)
                statuses |= {answer["statusCode"]}
    assert {200, 201, 404, 422} <= statuses
    assert max(statuses) < 500
    for private in (SECRET, "user-1", "agent-1"):
        assert private not in written.text()


def test_a_fault_is_an_error_line_without_its_text(
    deploy: Deploy, tmp_path: Path, written: Written
) -> None:
    deployed = deploy(FailingStore(tmp_path / "memories.db", RuntimeError(SECRET)))
    assert deployed("GET", "/memories")["statusCode"] == 500
    fault, request = written.lines()
    assert fault["level"] == request["level"] == "ERROR"
    assert fault["message"].startswith("unexpected RuntimeError")
    assert fault["function_request_id"] == "function-request-1"
    assert SECRET not in written.text()


def test_metrics_count_what_was_done(deploy: Deploy, written: Written) -> None:
    deployed = deploy()
    draft = {"content": "Likes tea", "tags": ["drink"]}
    deployed("POST", "/memories/batch", [draft, draft, draft])
    deployed("GET", "/memories")
    deployed("GET", "/memories/1")
    deployed("GET", "/memories/99")
    deployed("GET", "/health")
    batch, listed, read, missed = written.metrics()
    assert batch["Creates"] == [3.0]
    assert listed["Retrievals"] == [1.0]
    assert read["Retrievals"] == [1.0]
    assert missed["Retrievals"] == [0.0]
    assert len(batch["StoreLatency"]) == 1
    assert batch["service"] == "a-function"
    declared = batch["_aws"]["CloudWatchMetrics"][0]
    assert declared["Namespace"] == "memories"
    assert declared["Dimensions"] == [["service"]]


def test_a_lost_precondition_is_a_conflict(deploy: Deploy, written: Written) -> None:
    deployed = deploy()
    deployed("POST", "/memories", {"content": "Likes tea", "tags": ["drink"]})
    assert deployed("DELETE", "/memories/1", if_match='"7"')["statusCode"] == 412
    assert written.metrics()[-1]["Conflicts"] == [1.0]


@pytest.mark.parametrize(
    ("code", "throttles"), [("ThrottlingException", True), ("InternalServerError", False)]
)
def test_a_store_that_fails_is_counted_and_a_throttled_one_apart(
    deploy: Deploy,
    tmp_path: Path,
    written: Written,
    code: str,
    throttles: bool,
) -> None:
    store = FailingStore(tmp_path / "memories.db", StoreUnavailable(), Throttled(code))
    deployed = deploy(store)
    assert deployed("GET", "/memories")["statusCode"] == 503
    (metrics,) = written.metrics()
    assert metrics["StoreFailures"] == [1.0]
    assert ("Throttles" in metrics) is throttles


def test_without_tracing_its_library_is_not_loaded() -> None:
    loaded = "import http_api.app, sys; print('aws_xray_sdk' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    )
    assert found.stdout == "False\n"


def test_at_debug_the_libraries_write_no_requests() -> None:
    Observer(Settings(log_level="DEBUG"), "function")

    for library in ("botocore", "boto3", "urllib3", "aws_lambda_powertools"):
        assert not logging.getLogger(f"{library}.any.module").isEnabledFor(logging.DEBUG)

"""How long a request may take on DynamoDB, whatever each of its calls takes."""

import pytest
from botocore.config import Config
from mypy_boto3_dynamodb import DynamoDBClient

from doors import draft
from dynamodb.calls import recorded
from http_api.app import build_handler
from http_client import EventClient
from memories import deadline
from memories.bootstrap import ATTEMPTS, CONNECT_TIMEOUT, READ_TIMEOUT
from memories.config import Settings
from memories.errors import StoreUnavailable
from memories.limits import TIME_LIMIT
from memories.models import MemoryDraft, MemoryQuery
from memories.principal import Principal
from memories.service import MemoryService
from template import template

# Botocore's longest pauses before a second and a third attempt, in seconds.
PAUSES = 1 + 2


class Stopwatch:
    """A clock that goes on by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def test_without_time_left_no_call_is_made(client: DynamoDBClient, service: MemoryService) -> None:
    http = EventClient(build_handler(service, Settings(), time_limit=0))

    for method, target, body in (
        ("POST", "/memories", draft()),
        ("GET", "/memories", None),
        ("GET", "/memories/1", None),
        ("PATCH", "/memories/1", {"content": "New"}),
    ):
        with recorded(client) as requests:
            answer = http.send(method, target, body)
        assert (answer.status, requests) == (503, [])
        assert int(answer.headers["retry-after"]) >= 1


def test_a_page_begins_no_call_once_the_time_is_over(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    for _ in range(3):
        service.record_batch(principal, [MemoryDraft(content="Likes tea", tags=["t"])] * 25)
    with recorded(client) as whole:
        service.search(principal, MemoryQuery(limit=100))

    with recorded(client) as requests, pytest.raises(StoreUnavailable):  # noqa: SIM117
        with deadline.within(3.5, Stopwatch()):
            service.search(principal, MemoryQuery(limit=100))

    # Those in the threads are counted too.
    assert 1 <= len(requests) <= 3 < len(whole)


def test_the_last_call_still_ends_before_the_function_does(client: DynamoDBClient) -> None:
    config: Config = client.meta.config
    retries: dict[str, object] = config.retries  # type: ignore[attr-defined]
    assert retries["total_max_attempts"] == ATTEMPTS
    longest = TIME_LIMIT + ATTEMPTS * (CONNECT_TIMEOUT + READ_TIMEOUT) + PAUSES

    resources = template()["Resources"]
    for name in ("HttpFunction", "McpFunction"):
        assert longest < resources[name]["Properties"]["Timeout"]
    for name in ("HttpIntegration", "McpIntegration"):
        assert longest * 1000 < resources[name]["Properties"]["TimeoutInMillis"]

"""Hooks in the client that watch its requests, or make some of them fail."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import ReadTimeoutError
from mypy_boto3_dynamodb import DynamoDBClient

from memories.bootstrap import ATTEMPTS

_EVERY_REQUEST = "before-send.dynamodb"
# More general, so later than moto, which answers at "before-send".
_EVERY_ANSWER = "before-send"
_EVERY_RETRY = "needs-retry.dynamodb"


# A call whose answer did not come: whether it took effect cannot be known from it.
LOST = ReadTimeoutError(endpoint_url="https://dynamodb.example")


@contextmanager
def recorded(client: DynamoDBClient) -> Iterator[list[str]]:
    """Yield the list of the requests sent meanwhile, each by its operation."""
    requests: list[str] = []

    def record(request: Any, **_: Any) -> None:
        requests.append(_operation(request))

    client.meta.events.register_first(_EVERY_REQUEST, record)
    try:
        yield requests
    finally:
        client.meta.events.unregister(_EVERY_REQUEST, record)


@contextmanager
def failing(
    client: DynamoDBClient,
    operation: str,
    error: Exception,
    *,
    after: bool,
    attempts: int,
    meanwhile: Callable[[], object] = lambda: None,
) -> Iterator[None]:
    """Fail the first ``attempts`` at an operation, before or after they have taken effect.

    ``meanwhile`` is called when the first attempt has failed. Retries are made at once.
    """
    failed = 0

    def fails(request: Any) -> bool:
        nonlocal failed
        if _operation(request) != operation or failed == attempts:
            return False
        failed += 1
        if failed == 1:
            meanwhile()
        return True

    with _failing_where(client, fails, error, after=after):
        yield


@contextmanager
def failing_at(
    client: DynamoDBClient, number: int, error: Exception, *, after: bool, attempts: int
) -> Iterator[None]:
    """Fail the request of a number, from 1, and so many attempts at it in all."""
    sent = 0

    def fails(_request: Any) -> bool:
        nonlocal sent
        sent += 1
        return number <= sent < number + attempts

    with _failing_where(client, fails, error, after=after):
        yield


@contextmanager
def _failing_where(
    client: DynamoDBClient, fails: Callable[[Any], bool], error: Exception, *, after: bool
) -> Iterator[None]:
    def fail(request: Any, **_: Any) -> None:
        if fails(request):
            raise error

    def retry_at_once(attempts: int, caught_exception: Exception | None, **_: Any) -> float | None:
        return 0 if caught_exception is error and attempts < ATTEMPTS else None

    events: Any = client.meta.events
    event = _EVERY_ANSWER if after else _EVERY_REQUEST
    (events.register_last if after else events.register_first)(event, fail)
    events.register_first(_EVERY_RETRY, retry_at_once)
    try:
        yield
    finally:
        events.unregister(event, fail)
        events.unregister(_EVERY_RETRY, retry_at_once)


def _operation(request: Any) -> str:
    """Name the operation of a request; a query of an index is one of its own."""
    operation: str = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
    return "QueryIndex" if "IndexName" in json.loads(request.body) else operation

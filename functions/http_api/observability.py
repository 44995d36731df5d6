"""What a deployed function tells of itself: one log line and a few metrics for each request.

Neither ever holds content, a query, a path as it was sent, a token, or who was asking.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from http_api.operations import OPERATIONS
from http_api.reading import Event
from memories.config import Settings
from memories.errors import StoreUnavailable
from memories.stores.port import Store

if TYPE_CHECKING:
    from http_api.app import Handler

NAMESPACE = "memories"

# The package's name, so that the lines of its modules' own loggers are written alike.
_LOGGER = "http_api"

# The store's methods whose successes are counted, and what each result counts for.
_COUNTED: Mapping[str, tuple[str, Callable[[Any], int]]] = {
    "create": ("Creates", len),
    "access": ("Retrievals", lambda record: record is not None),
    "page": ("Retrievals", lambda page: 1),
    "place": ("Creates", lambda placed: sum(each.is_new for each in placed)),
}

# Mostly it asks the store for nothing, and its times would hide those of what does.
_UNTIMED = {"register"}

_CONFLICTS = {409, 412}

_LIBRARIES = ("aws_lambda_powertools", "boto3", "botocore", "urllib3")

# How DynamoDB says that it is asked too much.
_THROTTLED = {
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
}


class Observer:
    """Watches a handler and the store beneath it, and writes to the standard output."""

    def __init__(self, settings: Settings, function_name: str) -> None:
        """Log at the settings' level; ``function_name`` tells one deployment from another."""
        self._tracing = settings.tracing
        for library in _LIBRARIES:
            # At DEBUG they would write requests whole, with all that a person stored.
            logging.getLogger(library).setLevel(logging.INFO)
        self._logger = Logger(
            service=_LOGGER,
            level=settings.log_level,
            use_rfc3339=True,
            utc=True,
            location=None,
            sampling_rate=None,
        )
        self._metrics = EphemeralMetrics(namespace=NAMESPACE, service=function_name)
        self._store_seconds = 0.0
        self._cold = True

    def watched(self, store: Store) -> Store:
        """Return ``store`` with each call timed and counted."""
        return cast("Store", _WatchedStore(store, self))

    def observed(self, handler: Handler) -> Handler:
        """Return ``handler`` with a log line and metrics written after each request."""

        def observing(event: dict[str, Any], context: Any) -> dict[str, Any]:
            started = time.perf_counter()
            self._store_seconds = 0.0
            with self._logger.append_context_keys(function_request_id=context.aws_request_id):
                answer = handler(event, context)
                self._tell(event, answer, time.perf_counter() - started)
            return answer

        return _traced(observing) if self._tracing else observing

    def store_answered(self, method: str, result: object, seconds: float) -> None:
        if method in _UNTIMED:
            return
        self._store_took(seconds)
        if method in _COUNTED:
            name, count = _COUNTED[method]
            self._metrics.add_metric(name, MetricUnit.Count, count(result))

    def store_failed(self, error: Exception, seconds: float) -> None:
        self._store_took(seconds)
        if isinstance(error, StoreUnavailable):
            self._metrics.add_metric("StoreFailures", MetricUnit.Count, 1)
            if _error_code(error.__cause__) in _THROTTLED:
                self._metrics.add_metric("Throttles", MetricUnit.Count, 1)

    def _store_took(self, seconds: float) -> None:
        self._store_seconds += seconds
        self._metrics.add_metric("StoreLatency", MetricUnit.Milliseconds, _milliseconds(seconds))

    def _tell(self, event: Event, answer: Mapping[str, Any], seconds: float) -> None:
        status = answer["statusCode"]
        log = self._logger.error if status >= 500 else self._logger.info
        log(
            "request",
            request_id=answer["headers"]["X-Request-Id"],
            route=_route(event),
            status=status,
            latency_ms=_milliseconds(seconds),
            store_ms=_milliseconds(self._store_seconds),
            cold_start=self._cold,
        )
        self._cold = False
        if status in _CONFLICTS:
            self._metrics.add_metric("Conflicts", MetricUnit.Count, 1)
        if self._metrics.metric_set:
            self._metrics.flush_metrics()


class _WatchedStore:
    """A store in every way but that the observer is told of each call."""

    def __init__(self, store: object, observer: Observer) -> None:
        self._store = store
        self._observer = observer

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if not callable(method):  # a part of the store, for another noun
            return _WatchedStore(method, self._observer)

        def watched(*arguments: Any, **options: Any) -> Any:
            started = time.perf_counter()
            try:
                result = method(*arguments, **options)
            except Exception as error:
                self._observer.store_failed(error, time.perf_counter() - started)
                raise
            self._observer.store_answered(name, result, time.perf_counter() - started)
            return result

        return watched


def _traced(handler: Handler) -> Handler:
    # Imported here: without tracing, its library need not be there.
    from aws_lambda_powertools import Tracer  # noqa: PLC0415

    tracer = Tracer(service=_LOGGER, patch_modules=["botocore"])
    # An answer, and the text of an error, may hold what a person stored.
    traced: Handler = tracer.capture_lambda_handler(
        handler, capture_response=False, capture_error=False
    )
    return traced


def _route(event: Event) -> str | None:
    """Return the route as it is declared, or None for none of the routes."""
    method, path = event["requestContext"]["http"]["method"], event["rawPath"]
    for operation in OPERATIONS:
        if operation.method == method and operation.pattern.fullmatch(path):
            return f"{method} {operation.path}"
    return None


def _error_code(error: BaseException | None) -> str:
    response = getattr(error, "response", {})
    return str(response.get("Error", {}).get("Code", ""))


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)

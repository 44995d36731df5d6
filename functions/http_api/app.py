"""The function: an API Gateway event in, an answer out."""

import math
import os
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.utilities.data_classes.common import BaseProxyEvent

# Importing these declares their operations.
import http_api.documentation
import http_api.routes  # noqa: F401
from http_api.errors import MethodNotAllowed, NoSuchRoute, answer_to
from http_api.observability import Observer
from http_api.operations import OPERATIONS, Operation, methods_of
from memories.bootstrap import build_service, build_store
from memories.config import Settings
from memories.deadline import within
from memories.limits import TIME_LIMIT
from memories.service import MemoryService

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")

# Memories are personal: no cache on the way keeps them, and no browser guesses their type.
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def build_handler(
    service: MemoryService, settings: Settings, time_limit: float = TIME_LIMIT
) -> Handler:
    """Return the Lambda handler over ``service``, for API Gateway's payload version 2.0.

    For a request, no call to the store begins later than ``time_limit``, in seconds.
    The resolver keeps the event in its class, so call handlers from one thread at a time.
    """
    app = APIGatewayHttpResolver()
    router = Router()  # type: ignore[no-untyped-call]
    endpoints = [
        (operation, _bound(operation, service, settings, router, time_limit))
        for operation in OPERATIONS
    ]
    for operation, endpoint in endpoints:
        router.route(operation.path, operation.method)(endpoint)
    app.include_router(router)
    app.not_found(lambda error: _unrouted(app.current_event, endpoints))
    app.exception_handler(Exception)(answer_to)

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        return stamped(app.resolve(event, context), event["headers"])

    return handler


def stamped(answer: dict[str, Any], request_headers: Mapping[str, str]) -> dict[str, Any]:
    """Add the headers that every answer carries."""
    sent = request_headers.get("x-request-id", "")
    request_id = sent if _REQUEST_ID.fullmatch(sent) else str(uuid.uuid4())
    return answer | {"headers": answer["headers"] | _HEADERS | {"X-Request-Id": request_id}}


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one API Gateway request, by the settings in the environment."""
    return deployed()(event, context)


@cache
def deployed() -> Handler:
    """Return the handler that the settings in the environment ask for, made once."""
    settings = Settings.from_environment(os.environ)
    observer = Observer(settings, os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "http_api"))
    service = build_service(settings, observer.watched(build_store(settings)))
    return observer.observed(build_handler(service, settings))


def _bound(
    operation: Operation,
    service: MemoryService,
    settings: Settings,
    router: Router,
    time_limit: float,
) -> Callable[..., Response[str]]:
    def endpoint(**_: str) -> Response[str]:
        event = router.current_event
        if operation.parameters and (others := methods_of(event.path)):
            # A path with a name of its own, like /memories/batch, holds no parameter.
            raise MethodNotAllowed(others)
        with within(time_limit if operation.limited else math.inf):
            principal = operation.caller(event.raw_event, settings)
            arguments = {} if principal is None else {"principal": principal}
            if principal is not None:
                service.fair_use.count(principal, writes=operation.method != "GET")
                if operation.registers:
                    service.accounts.seen(principal)
            arguments |= operation.arguments(event.raw_event, event.path)
            return operation.handler(service=service, **arguments)

    return endpoint


def _unrouted(
    event: BaseProxyEvent, endpoints: Sequence[tuple[Operation, Callable[[], Response[str]]]]
) -> Response[str]:
    """Answer what the router took for none of the routes."""
    methods = methods_of(event.path)
    if methods:
        return answer_to(MethodNotAllowed(methods))
    for operation, endpoint in endpoints:
        if operation.pattern.fullmatch(event.path):
            if event.http_method == operation.method:
                # The router takes only some characters in a path.
                return endpoint()
            methods.append(operation.method)
    return answer_to(MethodNotAllowed(methods) if methods else NoSuchRoute())

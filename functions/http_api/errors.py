"""From errors to answers: the one table, and the one shape ``{"detail": …}``."""

import json
import logging
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from aws_lambda_powertools.event_handler import Response

from memories.errors import (
    AgentNotFound,
    DomainError,
    IdempotencyKeyReused,
    InvalidInput,
    InvalidRelation,
    MemoryNotFound,
    MissingScope,
    NotPermitted,
    PayloadTooLarge,
    RelationNotFound,
    RequestInProgress,
    StoreUnavailable,
    TooManyRequests,
    Unauthenticated,
    VersionMismatch,
    WriteConflict,
)

JSON = "application/json"
LINES = "application/x-ndjson"

_log = logging.getLogger(__name__)


class UnsupportedMediaType(DomainError):
    def __init__(self, wanted: str) -> None:
        form = "JSON" if wanted == JSON else "lines of JSON"
        super().__init__(f"Send the body as {form}, with the header Content-Type: {wanted}")


class NoSuchRoute(DomainError):
    def __init__(self) -> None:
        super().__init__("Not Found")


class MethodNotAllowed(DomainError):
    def __init__(self, allowed: Collection[str]) -> None:
        self.allowed = ", ".join(sorted(allowed))
        super().__init__(f"Method Not Allowed; use {self.allowed}")


@dataclass(frozen=True, slots=True)
class _Shape:
    status: int
    detail: Callable[[Any], object] = str
    beside: Callable[[Any], dict[str, object]] = field(default=lambda error: {})
    headers: Callable[[Any], dict[str, str]] = field(default=lambda error: {})


# Where a request says what is wrong about a relation.
_RELATION_PLACES = {"to_id": "path", "invalidate": "body"}

ANSWERS: dict[type[DomainError], _Shape] = {
    Unauthenticated: _Shape(401, headers=lambda error: {"WWW-Authenticate": "Bearer"}),
    MissingScope: _Shape(
        403,
        headers=lambda error: {
            "WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{error.scope}"'
        },
    ),
    NotPermitted: _Shape(403),
    MemoryNotFound: _Shape(404),
    AgentNotFound: _Shape(404),
    RelationNotFound: _Shape(404),
    NoSuchRoute: _Shape(404),
    MethodNotAllowed: _Shape(405, headers=lambda error: {"Allow": error.allowed}),
    WriteConflict: _Shape(409),
    RequestInProgress: _Shape(409, headers=lambda error: {"Retry-After": str(error.retry_after)}),
    VersionMismatch: _Shape(
        412,
        beside=lambda error: {"memory": error.current.model_dump()},
        headers=lambda error: {"ETag": f'"{error.current.version}"'},
    ),
    PayloadTooLarge: _Shape(413),
    UnsupportedMediaType: _Shape(415),
    InvalidInput: _Shape(
        422,
        detail=lambda error: [
            {"type": problem.type, "loc": problem.loc, "msg": problem.msg}
            for problem in error.problems
        ],
    ),
    IdempotencyKeyReused: _Shape(
        422,
        detail=lambda error: [
            {
                "type": "idempotency_key_reused",
                "loc": ("header", "Idempotency-Key"),
                "msg": str(error),
            }
        ],
    ),
    InvalidRelation: _Shape(
        422,
        detail=lambda error: [
            {
                "type": "relation",
                "loc": (_RELATION_PLACES[error.field], error.field),
                "msg": str(error),
            }
        ],
    ),
    TooManyRequests: _Shape(
        429,
        headers=lambda error: {
            "Retry-After": str(error.retry_after),
            "RateLimit-Policy": f'"{error.party}";q={error.limit};w={error.window}',
            "RateLimit": f'"{error.party}";r=0;t={error.retry_after}',
        },
    ),
    StoreUnavailable: _Shape(503, headers=lambda error: {"Retry-After": str(error.retry_after)}),
}


def answer_to(error: Exception) -> Response[str]:
    """Return the answer that tells the caller of ``error``, and nothing of what is inside."""
    rule = ANSWERS.get(type(error))  # type: ignore[arg-type]
    if rule is None:
        # The message may hold what a person stored, so the log gets the place and the kind alone.
        place = "".join(traceback.format_tb(error.__traceback__))
        _log.error("unexpected %s\n%s", type(error).__qualname__, place)
        return _answer(500, {"detail": "Internal Server Error"}, {})
    if rule.status >= 500:
        _log.error("%s: %s", type(error).__name__, type(error.__cause__).__name__)
    return _answer(
        rule.status, {"detail": rule.detail(error), **rule.beside(error)}, rule.headers(error)
    )


def _answer(status: int, body: dict[str, object], headers: dict[str, str]) -> Response[str]:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Response(status_code=status, content_type=JSON, body=text, headers=headers)

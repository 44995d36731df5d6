"""Operations: each route declared once, for the router, the parsing and the documentation.

Powertools' own validation is not used: it takes the first element of an array where one object
is expected, reads form bodies as JSON, splits query values at commas and ignores what it does not
know. Here a request is what it says, or is refused.
"""

import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

from aws_lambda_powertools.event_handler import Response
from pydantic import BaseModel, TypeAdapter, ValidationError

from http_api.errors import JSON, LINES, NoSuchRoute, UnsupportedMediaType
from http_api.segments import AgentSegment
from memories.base_model import DEFERRED
from memories.config import Settings
from memories.errors import InvalidInput, PayloadTooLarge, Problem, Unauthenticated
from memories.fields import RELATION_TYPE_RULE, IdempotencyKey, MemoryId, RelationType
from memories.limits import MAX_BODY, MAX_PARAMETERS
from memories.principal import Principal, principal_of
from memories.validation import invalid_input

Event = Mapping[str, Any]

# What a path's parameters are, and how a value that is none is told.
_ID_RULE = "must be a whole number from 1 to 2^63-1"
_PARAMETERS: dict[str, tuple[TypeAdapter[Any], str]] = {
    "memory_id": (TypeAdapter(MemoryId, config=DEFERRED), _ID_RULE),
    "to_id": (TypeAdapter(MemoryId, config=DEFERRED), _ID_RULE),
    "relation_type": (TypeAdapter(RelationType, config=DEFERRED), RELATION_TYPE_RULE),
    "agent_id": (
        TypeAdapter(AgentSegment, config=DEFERRED),
        "must be an agent's id of 1 to 256 characters, with /, ?, % and ~ in it as ~2F, ~3F, ~25 "
        "and ~7E",
    ),
}
_EMPTY = b"{}"
_KEY: TypeAdapter[str] = TypeAdapter(IdempotencyKey, config=DEFERRED)
_ENTITY_TAG = re.compile(r'\*|(?:W/)?"[^"]*"')
VERSION_TAG = '"[1-9][0-9]{0,18}"'
"""The entity tag of a version, as a pattern."""


@dataclass(frozen=True)
class Operation:
    """One route: what it takes, what it answers, and the function that translates."""

    method: str
    path: str
    handler: Callable[..., Response[str]]
    summary: str
    status: int
    returns: Any
    query: type[BaseModel] | None
    body: Any
    takes: str
    answers: str
    # A body that is left out is an empty object.
    body_optional: bool
    # Whether it also answers 201, where it made something that was not there.
    creates: bool
    precondition: bool
    repeatable: bool
    authorised: bool
    # Whether a request makes the agent known that makes it.
    registers: bool
    # Whether it has to be done within the time limit.
    limited: bool
    # Whether an answer can be 202: done in part, and to be repeated.
    continues: bool
    errors: tuple[int, ...]

    @cached_property
    def parameters(self) -> list[str]:
        """The names of the parameters in the path."""
        return re.findall(r"<(\w+)>", self.path)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The path with anything at all in place of its parameters.

        The router's own pattern takes only some characters, and a line feed after the end.
        """
        return re.compile(re.sub(r"<(\w+)>", r"(?P<\1>[^/]+)", self.path))

    @cached_property
    def body_type(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.body)

    def caller(self, event: Event, settings: Settings) -> Principal | None:
        """Return who asks, or None where it is no matter. Raises Unauthenticated."""
        return _principal(event, settings) if self.authorised else None

    def arguments(self, event: Event, path: str) -> dict[str, Any]:
        """Return the handler's arguments out of a payload 2.0 event. Raises DomainError."""
        matched = self.pattern.fullmatch(path)
        if matched is None:
            raise NoSuchRoute
        arguments: dict[str, Any] = {}
        for name in self.parameters:
            arguments[name] = read_parameter(name, matched[name])
        pairs = _query_pairs(event)
        if self.query is not None:
            arguments["query"] = _query(pairs, self.query)
        elif pairs:
            raise InvalidInput([_unknown_parameter(name) for name, _ in pairs])
        if self.precondition:
            arguments["expected_version"] = _expected_version(event)
        if self.repeatable:
            arguments["key"] = _idempotency_key(event)
        if self.body is not None:
            left_out = self.body_optional and not event.get("body")
            content = _EMPTY if left_out else _content(event, self.takes)
            arguments["body"] = content if self.takes == LINES else self._parsed(content)
        return arguments

    def _parsed(self, content: bytes) -> Any:
        try:
            return self.body_type.validate_json(content)
        except ValidationError as error:
            raise invalid_input(error, "body") from None


OPERATIONS: list[Operation] = []


def operation(
    method: str,
    path: str,
    *,
    summary: str,
    returns: Any,
    status: int = 200,
    query: type[BaseModel] | None = None,
    body: Any = None,
    takes: str = JSON,
    answers: str = JSON,
    body_optional: bool = False,
    creates: bool = False,
    precondition: bool = False,
    repeatable: bool = False,
    authorised: bool = True,
    registers: bool = True,
    limited: bool = True,
    continues: bool = False,
    errors: tuple[int, ...] = (),
) -> Callable[[Callable[..., Response[str]]], Callable[..., Response[str]]]:
    """Declare the decorated function as the handler of a route.

    ``limited`` is for all but what takes as long as there is much of it.
    ``registers`` is for all but what erases agents, which would be erased again when it is
    repeated.

    It is called with ``service`` and, as declared, ``principal``, the parameters of the path,
    ``query``, ``expected_version``, ``key`` and ``body``. ``takes`` and ``answers`` are media
    types: of LINES, ``body`` and ``returns`` are what a line holds, and the body is handed on as it
    came.
    """

    def declare(handler: Callable[..., Response[str]]) -> Callable[..., Response[str]]:
        OPERATIONS.append(
            Operation(
                method=method,
                path=path,
                handler=handler,
                summary=summary,
                status=status,
                returns=returns,
                query=query,
                body=body,
                takes=takes,
                answers=answers,
                body_optional=body_optional,
                creates=creates,
                precondition=precondition,
                repeatable=repeatable,
                authorised=authorised,
                registers=registers,
                limited=limited,
                continues=continues,
                errors=errors,
            )
        )
        return handler

    return declare


def methods_of(path: str) -> list[str]:
    """Return the methods of the path that is declared as it stands, without parameters."""
    return [declared.method for declared in OPERATIONS if declared.path == path]


def parameter_type(name: str) -> TypeAdapter[Any]:
    """Return the type of a path's parameter."""
    return _PARAMETERS[name][0]


def read_parameter(name: str, text: str) -> Any:
    """Return what a segment of a path holds. Raises InvalidInput."""
    kind, rule = _PARAMETERS[name]
    try:
        return kind.validate_strings(text)
    except ValidationError:
        raise InvalidInput([Problem(name, ("path", name), rule)]) from None


def _principal(event: Event, settings: Settings) -> Principal:
    try:
        claims = event["requestContext"]["authorizer"]["jwt"]["claims"]
    except (KeyError, TypeError):
        raise Unauthenticated("send a bearer token") from None
    return principal_of(claims, settings.user_claim, settings.agent_claim, settings.scope_prefix)


def _query_pairs(event: Event) -> list[tuple[str, str]]:
    # Not queryStringParameters: there a repeated parameter is joined to its first by a comma.
    query = event.get("rawQueryString") or ""
    if query.count("&") >= MAX_PARAMETERS:
        rule = f"must hold {MAX_PARAMETERS} parameters at most"
        raise InvalidInput([Problem("query_size", ("query",), rule)])
    try:
        return parse_qsl(query, keep_blank_values=True, errors="strict")
    except ValueError:
        problem = Problem("query_encoding", ("query",), "must be percent-encoded UTF-8")
        raise InvalidInput([problem]) from None


def _query(pairs: list[tuple[str, str]], model: type[BaseModel]) -> BaseModel:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = [name for name in values if names.count(name) > 1]
        raise InvalidInput(
            [Problem("repeated", ("query", name), "must be given once") for name in repeated]
        )
    if unknown := values.keys() - model.model_fields.keys():
        raise InvalidInput([_unknown_parameter(name) for name in sorted(unknown)])
    try:
        return model.model_validate_strings(values)
    except ValidationError as error:
        raise invalid_input(error, "query") from None


def _unknown_parameter(name: str) -> Problem:
    return Problem("extra_forbidden", ("query", name[:64]), "unknown query parameter; remove it")


def _expected_version(event: Event) -> int | None:
    tag = event["headers"].get("if-match")
    if tag is None or tag == "*":
        return None
    if not _ENTITY_TAG.fullmatch(tag):
        problem = Problem(
            "if_match", ("header", "If-Match"), 'must be one version in double quotes, like "3"'
        )
        raise InvalidInput([problem])
    # A tag that no version has, or a weak one, is well-formed and matches nothing.
    return int(tag[1:-1]) if re.fullmatch(VERSION_TAG, tag) else 0


def _idempotency_key(event: Event) -> str | None:
    sent = event["headers"].get("idempotency-key")
    try:
        return None if sent is None else _KEY.validate_python(sent)
    except ValidationError as error:
        raise invalid_input(error, "header", "Idempotency-Key") from None


def _content(event: Event, wanted: str) -> bytes:
    text = event.get("body") or ""
    content = base64.b64decode(text) if event.get("isBase64Encoded") else text.encode()
    if len(content) > MAX_BODY:
        raise PayloadTooLarge
    media_type = event["headers"].get("content-type", "").partition(";")[0].strip().lower()
    if media_type != wanted:
        raise UnsupportedMediaType(wanted)
    return content

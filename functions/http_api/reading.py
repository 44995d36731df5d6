"""Reading a request: what an event of API Gateway holds, or what is wrong with it.

Powertools' own validation is not used: it takes the first element of an array where one object
is expected, reads form bodies as JSON, splits query values at commas and ignores what it does not
know. Here a request is what it says, or is refused.
"""

import base64
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from pydantic import BaseModel, TypeAdapter, ValidationError

from http_api.errors import UnsupportedMediaType
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
_KEY: TypeAdapter[str] = TypeAdapter(IdempotencyKey, config=DEFERRED)
_ENTITY_TAG = re.compile(r'\*|(?:W/)?"[^"]*"')
VERSION_TAG = '"[1-9][0-9]{0,18}"'
"""The entity tag of a version, as a pattern."""


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


def principal_in(event: Event, settings: Settings) -> Principal:
    """Return who asks, by the claims that the gateway verified. Raises Unauthenticated."""
    try:
        claims = event["requestContext"]["authorizer"]["jwt"]["claims"]
    except (KeyError, TypeError):
        raise Unauthenticated("send a bearer token") from None
    return principal_of(claims, settings.user_claim, settings.agent_claim, settings.scope_prefix)


def query_pairs_in(event: Event) -> list[tuple[str, str]]:
    """Return the names and values of the query, as they come. Raises InvalidInput."""
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


def query_of(pairs: list[tuple[str, str]], model: type[BaseModel]) -> BaseModel:
    """Return what the parameters of a query say, each given once. Raises InvalidInput."""
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = [name for name in values if names.count(name) > 1]
        raise InvalidInput(
            [Problem("repeated", ("query", name), "must be given once") for name in repeated]
        )
    if unknown := values.keys() - model.model_fields.keys():
        raise InvalidInput([unknown_parameter(name) for name in sorted(unknown)])
    try:
        return model.model_validate_strings(values)
    except ValidationError as error:
        raise invalid_input(error, "query") from None


def unknown_parameter(name: str) -> Problem:
    """Return what is wrong with a parameter that there is not."""
    return Problem("extra_forbidden", ("query", name[:64]), "unknown query parameter; remove it")


def expected_version_in(event: Event) -> int | None:
    """Return the version of If-Match, 0 for one that none has, None for any.

    Raises InvalidInput.
    """
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


def idempotency_key_in(event: Event) -> str | None:
    """Return the key that the request has, or None. Raises InvalidInput."""
    sent = event["headers"].get("idempotency-key")
    try:
        return None if sent is None else _KEY.validate_python(sent)
    except ValidationError as error:
        raise invalid_input(error, "header", "Idempotency-Key") from None


def content_in(event: Event, wanted: str) -> bytes:
    """Return the body, of the media type ``wanted``.

    Raises PayloadTooLarge, UnsupportedMediaType.
    """
    text = event.get("body") or ""
    content = base64.b64decode(text) if event.get("isBase64Encoded") else text.encode()
    if len(content) > MAX_BODY:
        raise PayloadTooLarge
    media_type = event["headers"].get("content-type", "").partition(";")[0].strip().lower()
    if media_type != wanted:
        raise UnsupportedMediaType(wanted)
    return content

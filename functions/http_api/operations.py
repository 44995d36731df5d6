"""Operations: each route declared once, for the router, the parsing and the documentation."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aws_lambda_powertools.event_handler import Response
from pydantic import BaseModel, TypeAdapter, ValidationError

from http_api.errors import JSON, LINES, NoSuchRoute
from http_api.reading import (
    Event,
    content_in,
    expected_version_in,
    idempotency_key_in,
    principal_in,
    query_of,
    query_pairs_in,
    read_parameter,
    unknown_parameter,
)
from memories.config import Settings
from memories.errors import InvalidInput
from memories.principal import Principal
from memories.validation import invalid_input

_EMPTY = b"{}"


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
        return principal_in(event, settings) if self.authorised else None

    def arguments(self, event: Event, path: str) -> dict[str, Any]:
        """Return the handler's arguments out of a payload 2.0 event. Raises DomainError."""
        matched = self.pattern.fullmatch(path)
        if matched is None:
            raise NoSuchRoute
        arguments: dict[str, Any] = {}
        for name in self.parameters:
            arguments[name] = read_parameter(name, matched[name])
        pairs = query_pairs_in(event)
        if self.query is not None:
            arguments["query"] = query_of(pairs, self.query)
        elif pairs:
            raise InvalidInput([unknown_parameter(name) for name, _ in pairs])
        if self.precondition:
            arguments["expected_version"] = expected_version_in(event)
        if self.repeatable:
            arguments["key"] = idempotency_key_in(event)
        if self.body is not None:
            left_out = self.body_optional and not event.get("body")
            content = _EMPTY if left_out else content_in(event, self.takes)
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

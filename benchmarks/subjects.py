"""What can be measured: one operation of one server, in one way, by so many clients."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import load
from operations import Operation
from results import HTTP, REST, STDIO
from tool_calls import Stdio

CLIENTS = (1, 16)

Measure = Callable[[load.Most], Awaitable[load.Outcome]]


@dataclass(frozen=True, slots=True)
class Subject:
    """A measure, and what it is a measure of."""

    records: int
    operation: Operation
    way: str
    clients: int
    who: str
    measure: Measure


def over_rest(
    records: int, operation: Operation, who: str, port: int, clients: tuple[int, ...] = CLIENTS
) -> list[Subject]:
    """Return the subjects of a server's routes."""
    requests, status = operation.rest(), operation.status

    def measured_by(count: int) -> Measure:
        return lambda most: load.run(port, load.Load(requests, status, count, most))

    return [Subject(records, operation, REST, count, who, measured_by(count)) for count in clients]


def over_http(records: int, operation: Operation, who: str, port: int) -> list[Subject]:
    """Return the subjects of a server's tools, called over HTTP."""
    requests = operation.http()

    def measured_by(count: int) -> Measure:
        return lambda most: load.run(port, load.Load(requests, 200, count, most))

    return [Subject(records, operation, HTTP, count, who, measured_by(count)) for count in CLIENTS]


def over_stdio(records: int, operation: Operation, who: str, host: Stdio) -> list[Subject]:
    """Return the subjects of a server's tools over stdio; clients are calls at once."""
    calls = operation.stdio()

    def measured_by(count: int) -> Measure:
        return lambda most: host.run(calls, count, most)

    return [Subject(records, operation, STDIO, count, who, measured_by(count)) for count in CLIENTS]

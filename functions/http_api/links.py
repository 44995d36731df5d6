"""Links of the document: which operations can follow another, and with what of its answer."""

from collections.abc import Iterable, Iterator
from typing import Any

from http_api.operations import Operation
from memories.models import Memory

# Which parameter of a path an answer holds, and where.
_GIVEN: dict[Any, dict[str, str]] = {Memory: {"memory_id": "$response.body#/id"}}

# A reading gives nothing that was not known before.
_FOLLOWED = {"POST", "PUT", "PATCH", "DELETE"}


def links_from(operation: Operation, operations: Iterable[Operation]) -> dict[str, Any]:
    """Return the links of an operation's success, by the names of the operations that they lead to.

    They are to all operations on what it made or changed.
    """
    if operation.method not in _FOLLOWED:
        return {}
    known = _GIVEN.get(operation.returns, {}) | {
        name: f"$request.path.{name}" for name in operation.parameters
    }
    return dict(_links(known, operations))


def _links(
    known: dict[str, str], operations: Iterable[Operation]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for target in operations:
        given = {name: known[name] for name in target.parameters if name in known}
        if given:
            name = target.handler.__name__
            yield name, {"operationId": name, "parameters": given}

"""What can go wrong, each kind a class that carries its facts.

The text of an error is for the person or agent who caused it: what is wrong and what to do. No
class knows HTTP or MCP; each door has one table that maps these classes to its answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories.limits import MAX_BODY

if TYPE_CHECKING:
    from memories.models import Memory


class DomainError(Exception):
    """Base of every error that a caller is told about."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault in an input: a stable ``type``, where it is, and what to do about it."""

    type: str
    loc: tuple[str | int, ...]
    msg: str


class InvalidInput(DomainError):
    """The input breaks a rule; nothing was done."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problem.msg for problem in problems))


class PayloadTooLarge(DomainError):
    """The body of the request is larger than what is read."""

    def __init__(self) -> None:
        super().__init__(f"The body is larger than {MAX_BODY} bytes; send less at once")


class Unauthenticated(DomainError):
    """Nobody is known to be asking."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Not authenticated: {reason}")


class MissingScope(DomainError):
    """The token does not allow this operation."""

    def __init__(self, scope: str) -> None:
        self.scope = scope
        super().__init__(f"This needs the scope {scope}")


class MemoryNotFound(DomainError):
    """No such memory, or it is deleted, or the caller may not see it: not to be told apart."""

    def __init__(self, memory_id: int) -> None:
        self.memory_id = memory_id
        super().__init__("Memory not found")


class AgentNotFound(DomainError):
    """The user has no such agent."""

    def __init__(self) -> None:
        super().__init__("Agent not found")


class RelationNotFound(DomainError):
    """Both memories may be seen, and are not related so."""

    def __init__(self) -> None:
        super().__init__("Relation not found")


class InvalidRelation(DomainError):
    """Memories cannot be related so; ``field`` says what is wrong about it. Nothing was done."""

    def __init__(self, field: str, rule: str) -> None:
        self.field = field
        super().__init__(rule)


class NotPermitted(DomainError):
    """The memory may be read, but not changed so, by this agent."""

    def __init__(self, what: str) -> None:
        super().__init__(what)


class VersionMismatch(DomainError):
    """The memory is not at the version the caller expected; ``current`` is what it is."""

    def __init__(self, current: Memory) -> None:
        self.current = current
        super().__init__(
            f"Memory is at version {current.version}, not at the one you expected; "
            "look at it as it is now, then decide again"
        )


class WriteConflict(DomainError):
    """Other writers kept winning for as many tries as a request may make."""

    def __init__(self, what: str = "Memory") -> None:
        super().__init__(f"{what} was modified by another request")


class IdempotencyKeyReused(DomainError):
    """The key was that of another request; nothing was done."""

    def __init__(self) -> None:
        super().__init__(
            "This idempotency key was used for another request; make a new key for each"
        )


class RequestInProgress(DomainError):
    """The first request with this key is still running. ``retry_after`` is in seconds."""

    def __init__(self, retry_after: int = 1) -> None:
        self.retry_after = retry_after
        super().__init__("The first request with this idempotency key is still running; try again")


class TooManyRequests(DomainError):
    """A user or an agent asks for more than their share; nothing was done. Times are in seconds."""

    def __init__(self, party: str, limit: int, window: int, retry_after: int) -> None:
        self.party = party
        self.limit = limit
        self.window = window
        self.retry_after = retry_after
        super().__init__(
            f"Too many requests: this {party} may make {limit} in {window} s; "
            f"try again in {retry_after} s"
        )


class StoreUnavailable(DomainError):
    """The store failed; nothing was half-written. ``retry_after`` is in seconds."""

    def __init__(self, retry_after: int = 1) -> None:
        self.retry_after = retry_after
        super().__init__("The store is unavailable; try again")

"""What the commands do with memories, in the words of the contract, wherever these are kept."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from local.told import CannotDo
from memories.errors import Problem

Fields = dict[str, Any]


class Unavailable(CannotDo):
    """The memories cannot be got at just now. ``retry_after`` is in seconds."""

    def __init__(self, told: str, retry_after: float = 1) -> None:
        self.retry_after = retry_after
        super().__init__(told)


class Exported(NamedTuple):
    """Some lines of an export, and where to go on after, if more follow."""

    lines: Sequence[str]
    next: int | None


class Client(Protocol):
    """Takes and gives JSON objects as HTTP does.

    Every method raises WronglyCalled for what breaks a rule, Unavailable, and CannotDo.
    """

    def record(self, draft: Mapping[str, Any]) -> Fields: ...

    def search(self, query: Mapping[str, Any], full: bool) -> Fields: ...

    def inspect(self, memory_id: int, full: bool) -> Fields: ...

    def revise(
        self, memory_id: int, patch: Mapping[str, Any], expected_version: int | None
    ) -> Fields: ...

    def retire(self, memory_id: int, expected_version: int | None) -> Fields: ...

    def tags(self, query: Mapping[str, Any]) -> Fields: ...

    def relations(self, memory_id: int, query: Mapping[str, Any]) -> Fields: ...

    def relate(self, from_id: int, relation_type: str, to_id: int, strength: float) -> Fields: ...

    def unrelate(self, from_id: int, relation_type: str, to_id: int) -> Fields: ...

    def export(self, after: int) -> Exported: ...

    def take_in(self, lines: bytes) -> Fields:
        """Import the lines, and return the report."""


def told_of(problems: Sequence[Problem]) -> str:
    """Return what is wrong, each fault with its place."""
    return "; ".join(
        f"{'.'.join(map(str, problem.loc))}: {problem.msg}" if problem.loc else problem.msg
        for problem in problems
    )

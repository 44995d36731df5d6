"""What the service asks of a store.

A store keeps and finds records. Which changes are allowed, who may see what and what time it is
are told to it; every method is atomic, and every failure of the store itself is StoreUnavailable
with nothing half-written.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from memories.models import MemoryType, Status


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record that has no id yet."""

    content: str
    tags: tuple[str, ...]
    memory_type: MemoryType
    status: Status
    created_at: str
    agent_id: str


class Record(NamedTuple):
    """A record as it is stored. Times are the contract's strings, so that they sort as text."""

    id: int
    content: str
    tags: tuple[str, ...]
    created_at: str
    updated_at: str
    last_accessed_at: str | None
    memory_type: MemoryType
    status: Status
    version: int
    agent_id: str


@dataclass(frozen=True, slots=True)
class Selection:
    """A page to find: exact filters, the folded text, the order and the part."""

    status: str | None
    memory_type: str | None
    tag: str | None
    text: str | None
    sort: str
    limit: int
    offset: int


# Says how many of the found records the answer has room for.
Fit = Callable[[Sequence[Record]], int]


class ConditionFailed(Exception):
    """A conditional write did not apply. ``current`` is the record as it is, if there is one."""

    def __init__(self, current: Record | None) -> None:
        self.current = current
        super().__init__("the record is not as the write expected")


class Store(Protocol):
    """Keeps the records of every user, each user's apart."""

    def create(self, user_id: str, drafts: Sequence[NewRecord]) -> list[Record]:
        """Store all the drafts or none, each under a new id, and return them in order."""

    def get(self, user_id: str, memory_id: int) -> Record | None:
        """Return the record as last written, whatever its status; no trace is left."""

    def access(self, user_id: str, memory_id: int, accessed_at: str) -> Record | None:
        """Return the record if there is one that is not deleted, marked as accessed."""

    def update(
        self, user_id: str, memory_id: int, version: int, changes: Mapping[str, Any], at: str
    ) -> Record:
        """Apply ``changes`` and make it the next version, if it is at ``version`` and not deleted.

        The access time is not part of the condition and keeps its stored value. Raises
        ConditionFailed.
        """

    def retire(self, user_id: str, memory_id: int, version: int | None) -> Record:
        """Mark as deleted, if not deleted and, where given, at ``version``.

        Raises ConditionFailed.
        """

    def page(
        self, user_id: str, selection: Selection, accessed_at: str, fit: Fit = len
    ) -> tuple[list[Record], int]:
        """Return the selected part, as much of it as fits, and the number of all matches.

        Order and number are those before this call; then exactly the returned records are marked
        as accessed. ``fit`` is given the records as they would be returned, and the first that
        many are.
        """

    def check(self) -> None:
        """Raise StoreUnavailable unless the store can be read."""

    def close(self) -> None:
        """Release what the store holds. It cannot be used afterwards."""

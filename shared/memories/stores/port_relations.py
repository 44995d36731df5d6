"""What the service asks of a store about relations between memories.

A relation is seen where its other end is: a deleted memory, or one that the agent may not read,
hides its relations and keeps them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memories.principal import Principal

if TYPE_CHECKING:
    from memories.stores.port import Record

# A memory that many relate to is not followed along all of its relations: along as many as this
# out of it, and as many into it, in their order.
FOLLOWED = 100


class RelationRecord(NamedTuple):
    """A relation as it is stored, with the agent that recorded it."""

    from_id: int
    relation_type: str
    to_id: int
    strength: float
    created_at: str
    agent_id: str


@dataclass(frozen=True, slots=True)
class RelationSelection:
    """Which relations of a memory to find."""

    memory_id: int
    direction: str
    relation_type: str | None
    limit: int
    offset: int


class EndRefused(Exception):
    """An end is not there, or not the agent's to use so. ``current`` is its record, if any."""

    def __init__(self, memory_id: int, current: Record | None) -> None:
        self.memory_id = memory_id
        self.current = current
        super().__init__("an end is not as the relation needs it")


class RelationStore(Protocol):
    """Keeps the relations of every user's memories. No memory is marked as accessed.

    Relations are in this order: those out of a memory, then those into it; by type; by the id of
    the other end.
    """

    def put(
        self, principal: Principal, relation: RelationRecord, invalidated_at: str | None = None
    ) -> tuple[RelationRecord, bool]:
        """Store the relation, or give the stored one this strength, and say whether it is new.

        If neither end is deleted, the first may be changed and the second read. With
        ``invalidated_at``, if the second may be changed too; if it is active, it then is made the
        next version, at that time, and invalid. Raises EndRefused, for the first end first.
        """

    def remove(
        self, principal: Principal, from_id: int, relation_type: str, to_id: int
    ) -> RelationRecord | None:
        """Remove the relation and return it, or None if there is none.

        If neither end is deleted, the first may be changed and the second read. Raises EndRefused.
        """

    def listed(
        self, principal: Principal, selection: RelationSelection
    ) -> tuple[list[RelationRecord], int] | None:
        """Return the selected part, and the number of all that match.

        None if the memory itself may not be read or is deleted.
        """

    def around(
        self,
        principal: Principal,
        memory_ids: Sequence[int],
        direction: str = "both",
        relation_type: str | None = None,
    ) -> dict[int, list[RelationRecord]]:
        """Return the relations of each of the memories, by its id, along FOLLOWED each way.

        Whether these memories themselves may be read is not looked at.
        """

    def out_of(self, principal: Principal, first_id: int, last_id: int) -> list[RelationRecord]:
        """Return all that lead out of the memories with ids from the first to the last, in order.

        To what may be read and is not deleted. Whether these memories themselves are so is not
        looked at.
        """

    def add(self, relations: Sequence[tuple[Principal, RelationRecord]]) -> list[bool | EndRefused]:
        """Store the relations that are not there yet, each by the rules for its principal.

        Say of each whether it is new, or why it was refused. One that is there is left as it is.
        """

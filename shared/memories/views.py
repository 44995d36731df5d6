"""Stored records as they are shown: the nine fields, or all that a caller may ask for. Pure."""

from collections.abc import Callable, Mapping, Sequence

from memories.models import FullMemory, FullPage, Memory, MemoryQuery, Page, Permissions
from memories.stores.port import Record


def memory_of(record: Record) -> Memory:
    """Show the nine fields."""
    return Memory(
        id=record.id,
        content=record.content,
        tags=list(record.tags),
        created_at=record.created_at,
        updated_at=record.updated_at,
        last_accessed_at=record.last_accessed_at,
        memory_type=record.memory_type,
        status=record.status,
        version=record.version,
    )


def full_memory_of(record: Record, related: Sequence[int]) -> FullMemory:
    """Show all fields, and the ids of the memories that it is related to."""
    return FullMemory(
        **dict(memory_of(record)),
        agent_id=record.agent_id,
        importance=record.importance,
        category=record.category,
        source=record.source,
        access_count=record.access_count,
        related_memories=list(related),
        permissions=permissions_of(record),
    )


def permissions_of(record: Record) -> Permissions:
    """Show the grants."""
    return Permissions(
        is_public=record.is_public,
        read_only=record.read_only,
        shared_with_agents=list(record.shared_with_agents),
    )


class View:
    """How records are shown to a caller: in short, or in full."""

    def __init__(
        self, full: bool, related_to: Callable[[Sequence[int]], Mapping[int, Sequence[int]]]
    ) -> None:
        """``related_to`` is asked, in full, for the ids related to those that are shown."""
        self._full = full
        self._related_to = related_to
        self._related: dict[int, Sequence[int]] = {}

    def look_up(self, records: Sequence[Record]) -> None:
        """Find out what it takes to show the records, which comes before showing them."""
        if self._full:
            # A deleted memory hides its relations.
            shown = [record.id for record in records if record.status != "deleted"]
            self._related |= self._related_to(shown)

    def related(self, record: Record) -> Sequence[int]:
        """Return the ids that are shown with the record."""
        return self._related.get(record.id, ())

    def memory(self, record: Record) -> Memory:
        return full_memory_of(record, self.related(record)) if self._full else memory_of(record)

    def page(self, records: Sequence[Record], total: int, query: MemoryQuery) -> Page:
        """Put a part of the matches into its envelope."""
        items = [self.memory(record) for record in records]
        return (FullPage if self._full else Page).model_construct(
            items=items,
            total=total,
            limit=query.limit,
            offset=query.offset,
            has_more=query.offset + len(records) < total,
        )

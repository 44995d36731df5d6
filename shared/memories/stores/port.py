"""What the service asks of a store.

A store keeps and finds records. Which changes are allowed, who may see what and what time it is
are told to it; every method is atomic, and every failure of the store itself is StoreUnavailable
with nothing half-written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from memories.fields import MemoryType, Status
from memories.principal import Principal
from memories.stores.port_accounts import Accounts
from memories.stores.port_erasure import Erasure
from memories.stores.port_idempotency import KeyedRequest
from memories.stores.port_log import AccessLog
from memories.stores.port_maintenance import Maintenance
from memories.stores.port_relations import RelationStore
from memories.stores.port_tags import TagStore
from memories.stores.port_usage import Usage

if TYPE_CHECKING:
    from memories.stores.port_transfer import TransferStore


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record that has no id yet."""

    content: str
    tags: tuple[str, ...]
    memory_type: MemoryType
    status: Status
    created_at: str
    importance: int
    category: str | None
    source: str | None
    is_public: bool
    read_only: bool
    shared_with_agents: tuple[str, ...]


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
    importance: int
    category: str | None
    source: str | None
    access_count: int
    is_public: bool
    read_only: bool
    shared_with_agents: tuple[str, ...]


def first_version(memory_id: int, agent_id: str, draft: NewRecord) -> Record:
    """Return the record that a draft becomes, under its id and made by the agent."""
    return Record(
        id=memory_id,
        content=draft.content,
        tags=draft.tags,
        created_at=draft.created_at,
        updated_at=draft.created_at,
        last_accessed_at=None,
        memory_type=draft.memory_type,
        status=draft.status,
        version=1,
        agent_id=agent_id,
        importance=draft.importance,
        category=draft.category,
        source=draft.source,
        access_count=0,
        is_public=draft.is_public,
        read_only=draft.read_only,
        shared_with_agents=draft.shared_with_agents,
    )


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
    """Keeps the records of every user, each user's apart.

    The principal says whose they are, and by which agent's grants they may be read and changed.
    """

    @property
    def transfer(self) -> TransferStore:
        """The part that whole records leave and come by."""

    @property
    def accounts(self) -> Accounts:
        """The users and their agents."""

    @property
    def relations(self) -> RelationStore:
        """How the memories relate to one another."""

    @property
    def tags(self) -> TagStore:
        """Which tags there are."""

    @property
    def erasure(self) -> Erasure:
        """The part that erases users and agents."""

    @property
    def log(self) -> AccessLog:
        """Who accessed the memories."""

    @property
    def usage(self) -> Usage:
        """How much the users ask for."""

    @property
    def maintenance(self) -> Maintenance:
        """What the lifecycle works with."""

    def create(
        self,
        principal: Principal,
        drafts: Sequence[NewRecord],
        request: KeyedRequest | None = None,
    ) -> list[Record]:
        """Store all the drafts or none, under new ids that follow one another, in order.

        The principal's agent is their maker. What is to be known of ``request`` is stored with
        them or not at all. Raises AlreadyDone if its key is kept and not expired, and
        RequestInProgress if just then another request with it is storing.
        """

    def get(self, principal: Principal, memory_id: int) -> Record | None:
        """Return the record as last written, whatever its status and grants; no trace is left."""

    def access(self, principal: Principal, memory_id: int, accessed_at: str) -> Record | None:
        """Return the record if it may be read and is not deleted, marked as accessed."""

    def access_all(
        self, principal: Principal, memory_ids: Sequence[int], accessed_at: str, fit: Fit = len
    ) -> list[Record]:
        """Return those records that may be read and are not deleted, in the order of the ids.

        As many of the first as ``fit`` says, marked as accessed. There may be 100 ids.
        """

    def update(
        self,
        principal: Principal,
        memory_id: int,
        version: int,
        changes: Mapping[str, Any],
        at: str,
    ) -> Record:
        """Apply ``changes`` and make it the next version.

        If it is at ``version``, may be changed and is not deleted. The access time is not part of
        the condition and keeps its stored value. Raises ConditionFailed.
        """

    def retire(self, principal: Principal, memory_id: int, version: int | None, at: str) -> Record:
        """Mark as deleted since ``at``.

        If it may be changed, is not deleted and, where given, at ``version``. Raises
        ConditionFailed.
        """

    def grant(self, principal: Principal, memory_id: int, grants: Mapping[str, Any]) -> Record:
        """Set the grants, if the principal's agent is the maker and it is not deleted.

        They are no part of the version. Raises ConditionFailed.
        """

    def page(
        self, principal: Principal, selection: Selection, accessed_at: str, fit: Fit = len
    ) -> tuple[list[Record], int]:
        """Return the selected part of what may be read, and the number of all matches.

        Order and number are those before this call; then exactly the returned records are marked
        as accessed. ``fit`` is given the records as they would be returned, and as many of the
        first as it says are.
        """

    def count(self, principal: Principal, selection: Selection, at: str) -> int:
        """Return the number of all matches that may be read, whatever the part; no trace is left.

        ``at`` is the present time.
        """

    def check(self) -> None:
        """Raise StoreUnavailable unless the store can be read."""

    def close(self) -> None:
        """Release what the store holds. It cannot be used afterwards."""

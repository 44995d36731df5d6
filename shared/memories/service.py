"""The use cases, each one promise of the contract. Both doors call these and nothing else."""

import random
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from memories.errors import MemoryNotFound, VersionMismatch, WriteConflict
from memories.models import (
    Memory,
    MemoryDraft,
    MemoryPatch,
    MemoryQuery,
    Page,
    PrimedContext,
    PrimingQuery,
    timestamp,
)
from memories.principal import READ, WRITE, Principal
from memories.stores.port import ConditionFailed, Fit, NewRecord, Record, Selection, Store
from memories.text import fold

Clock = Callable[[], datetime]

# A PATCH that loses this many races in a row answers WriteConflict.
MAX_TRIES = 8
# The longest wait before the second try, in seconds; it doubles with every further one.
_FIRST_PAUSE = 0.002

# The most characters that the two envelopes of a primed context take around their items.
_ENVELOPES = 260


def utc_now() -> datetime:
    return datetime.now(UTC)


def pause(tries: int) -> None:
    """Wait for a random while, longer after every try, so that writers do not meet again."""
    time.sleep(random.uniform(0, _FIRST_PAUSE * 2**tries))  # noqa: S311  (no secret)


class _Room:
    """Characters of JSON that a page may take."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.used = 0

    def fit(self, records: Sequence[Record]) -> int:
        """Return how many of the records there is room for, each whole and with its comma."""
        for number, record in enumerate(records):
            size = len(_shown(record).model_dump_json()) + 1
            if self.used + size > self._size:
                return number
            self.used += size
        return len(records)


class MemoryService:
    """Records, finds, reads, revises and retires memories on behalf of a principal."""

    def __init__(
        self, store: Store, clock: Clock = utc_now, pause: Callable[[int], None] = pause
    ) -> None:
        """``pause`` is called after every lost race, with the number of the try that lost."""
        self._store = store
        self._clock = clock
        self._pause = pause

    def record(self, principal: Principal, draft: MemoryDraft) -> Memory:
        """Store one memory."""
        (memory,) = self.record_batch(principal, [draft])
        return memory

    def record_batch(self, principal: Principal, drafts: Sequence[MemoryDraft]) -> list[Memory]:
        """Store all the drafts or none, in order."""
        principal.require(WRITE)
        now = self._now()
        new = [
            NewRecord(
                content=draft.content,
                tags=tuple(draft.tags),
                memory_type=draft.memory_type,
                status=draft.status,
                created_at=now,
                agent_id=principal.agent_id,
            )
            for draft in drafts
        ]
        return [_shown(record) for record in self._store.create(principal.user_id, new)]

    def search(self, principal: Principal, query: MemoryQuery) -> Page:
        """Return one page of the matches and mark exactly its memories as accessed."""
        principal.require(READ)
        return self._page(principal, query, len)

    def prime(self, principal: Principal, query: PrimingQuery) -> PrimedContext:
        """Return the active preferences and identities, as many as ``max_chars`` has room for.

        Each page has half of the room; the second has what the first leaves of its half too.
        """
        principal.require(READ)
        room = query.max_chars - _ENVELOPES
        half = _Room(room // 2)
        preferences = self._page(principal, query.of_type("preference"), half.fit)
        rest = _Room(room - half.used)
        identities = self._page(principal, query.of_type("identity"), rest.fit)
        return PrimedContext.model_construct(preferences=preferences, identities=identities)

    def inspect(self, principal: Principal, memory_id: int) -> Memory:
        """Return one memory and mark it as accessed. Raises MemoryNotFound."""
        principal.require(READ)
        record = self._store.access(principal.user_id, memory_id, self._now())
        if record is None:
            raise MemoryNotFound(memory_id)
        return _shown(record)

    def revise(
        self,
        principal: Principal,
        memory_id: int,
        patch: MemoryPatch,
        expected_version: int | None = None,
    ) -> Memory:
        """Change the fields that were sent and differ; without any, change nothing.

        Raises MemoryNotFound, VersionMismatch, and WriteConflict when other writers won every try.
        """
        principal.require(WRITE)
        current = self._store.get(principal.user_id, memory_id)
        for tries in range(1, MAX_TRIES + 1):
            record = _expected(current, memory_id, expected_version)
            changes = _differences(record, patch)
            if not changes:
                return _shown(record)
            try:
                return _shown(
                    self._store.update(
                        principal.user_id, memory_id, record.version, changes, self._now()
                    )
                )
            except ConditionFailed as lost:
                current = lost.current
                self._pause(tries)
        raise WriteConflict

    def retire(
        self, principal: Principal, memory_id: int, expected_version: int | None = None
    ) -> Memory:
        """Mark one memory as deleted. Raises MemoryNotFound, VersionMismatch."""
        principal.require(WRITE)
        try:
            return _shown(self._store.retire(principal.user_id, memory_id, expected_version))
        except ConditionFailed as refused:
            _expected(refused.current, memory_id, expected_version)
            raise WriteConflict from refused

    def check(self) -> None:
        """Raise StoreUnavailable unless the store answers."""
        self._store.check()

    def _page(self, principal: Principal, query: MemoryQuery, fit: Fit) -> Page:
        selection = Selection(
            status=query.status,
            memory_type=query.memory_type,
            tag=query.tag,
            text=None if query.q is None else fold(query.q),
            sort=query.sort,
            limit=query.limit,
            offset=query.offset,
        )
        records, total = self._store.page(principal.user_id, selection, self._now(), fit)
        return Page.model_construct(
            items=[_shown(record) for record in records],
            total=total,
            limit=query.limit,
            offset=query.offset,
            has_more=query.offset + len(records) < total,
        )

    def _now(self) -> str:
        return timestamp(self._clock())


def _expected(record: Record | None, memory_id: int, expected_version: int | None) -> Record:
    if record is None or record.status == "deleted":
        raise MemoryNotFound(memory_id)
    if expected_version not in (None, record.version):
        raise VersionMismatch(_shown(record))
    return record


def _differences(record: Record, patch: MemoryPatch) -> dict[str, object]:
    sent = patch.changes()
    if "tags" in sent:
        sent["tags"] = tuple(sent["tags"])
    return {name: value for name, value in sent.items() if value != getattr(record, name)}


def _shown(record: Record) -> Memory:
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

"""New memories: stored, or known to be those of a request that was made before."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from memories.clock import Clock
from memories.errors import IdempotencyKeyReused
from memories.fields import timestamp
from memories.idempotency import RunningRequests, keyed_request
from memories.models import Memory, MemoryDraft
from memories.principal import WRITE, Principal
from memories.stores.port import NewRecord, Store, first_version
from memories.stores.port_idempotency import AlreadyDone, FirstRequest, KeyedRequest
from memories.views import memory_of


class Recorded(NamedTuple):
    """What a request to record is answered; ``replayed``: what the first of its key was."""

    memories: list[Memory]
    replayed: bool = False


class Recording:
    """Records memories on behalf of a principal, whose agent is their maker.

    Requests of one agent that have the same ``key`` are one request, which is done once.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._running = RunningRequests()

    def one(self, principal: Principal, draft: MemoryDraft, key: str | None = None) -> Recorded:
        """Store one memory. Raises IdempotencyKeyReused, RequestInProgress."""
        return self._record(principal, "one", [draft], key)

    def batch(
        self, principal: Principal, drafts: Sequence[MemoryDraft], key: str | None = None
    ) -> Recorded:
        """Store all the drafts or none, in order. Raises as ``one`` does."""
        return self._record(principal, "batch", drafts, key)

    def _record(
        self, principal: Principal, operation: str, drafts: Sequence[MemoryDraft], key: str | None
    ) -> Recorded:
        principal.require(WRITE)
        now = self._clock()
        new = [_new_record(draft, timestamp(now)) for draft in drafts]
        if key is None:
            return Recorded([memory_of(record) for record in self._store.create(principal, new)])
        request = keyed_request(key, operation, drafts, now)
        with self._running.only(principal, request):
            try:
                records = self._store.create(principal, new, request)
            except AlreadyDone as done:
                return Recorded(_replayed(principal, new, request, done.first), replayed=True)
        return Recorded([memory_of(record) for record in records])


def _new_record(draft: MemoryDraft, created_at: str) -> NewRecord:
    return NewRecord(
        content=draft.content,
        tags=tuple(draft.tags),
        memory_type=draft.memory_type,
        status=draft.status,
        created_at=created_at,
        importance=draft.importance,
        category=draft.category,
        source=draft.source,
        is_public=draft.is_public,
        read_only=draft.read_only,
        shared_with_agents=tuple(draft.shared_with_agents),
    )


def _replayed(
    principal: Principal, new: Sequence[NewRecord], request: KeyedRequest, first: FirstRequest
) -> list[Memory]:
    """Return what the first request was answered. It asked for the same, so only when differs."""
    if request.fingerprint != first.fingerprint:
        raise IdempotencyKeyReused
    drafts = [dataclasses.replace(draft, created_at=first.created_at) for draft in new]
    return [
        memory_of(first_version(first.first_id + number, principal.agent_id, draft))
        for number, draft in enumerate(drafts)
    ]

"""The use cases, each one promise of the contract. Both doors call these and nothing else."""

import random
import time
from collections.abc import Callable, Sequence
from functools import partial

from memories.access_log import Log
from memories.accounts import AccountService
from memories.clock import Clock, utc_now
from memories.erasure import ErasureService
from memories.errors import MemoryNotFound, NotPermitted, WriteConflict
from memories.fair_use import UNLIMITED, FairUse
from memories.fields import MAX_ID, timestamp
from memories.limits import MAX_ANSWER
from memories.models import (
    FullPrimedContext,
    Memory,
    MemoryDraft,
    MemoryPatch,
    MemoryQuery,
    Page,
    Permissions,
    PermissionsPatch,
    PrimedContext,
    PrimingQuery,
)
from memories.permission import changeable, readable
from memories.principal import READ, WRITE, Principal
from memories.recording import Recording
from memories.relations import Relations
from memories.room import Room, deliverable
from memories.stores.port import ConditionFailed, Fit, Record, Selection, Store
from memories.stores.port_log import LOG_DAYS
from memories.stores.port_usage import Limits
from memories.tags import Tags
from memories.text import fold
from memories.transfer import Transfer
from memories.views import View, memory_of, permissions_of

# A PATCH that loses this many races in a row answers WriteConflict.
MAX_TRIES = 8
# The longest wait before the second try, in seconds; it doubles with every further one.
_FIRST_PAUSE = 0.002

# The most characters that the two envelopes of a primed context take around their items.
_ENVELOPES = 260


def pause(tries: int) -> None:
    """Wait for a random while, longer after every try, so that writers do not meet again."""
    time.sleep(random.uniform(0, _FIRST_PAUSE * 2**tries))  # noqa: S311  (no secret)


class MemoryService:
    """Records, finds, reads, revises and retires memories on behalf of a principal."""

    def __init__(
        self,
        store: Store,
        clock: Clock = utc_now,
        pause: Callable[[int], None] = pause,
        *,
        standard_tags: Sequence[str] = (),
        log_days: int = LOG_DAYS,
        limits: Limits = UNLIMITED,
    ) -> None:
        """``pause`` is called after every lost race, with the number of the try that lost.

        ``log_days`` is how long an access is shown in the log.
        """
        self.log = Log(store, clock, log_days)
        self._store = store
        self._clock = clock
        self._pause = pause
        self.fair_use = FairUse(store.usage, clock, limits)
        self.recording = Recording(store, clock)
        self.transfer = Transfer(store, clock)
        self.accounts = AccountService(store, clock, pause)
        self.relations = Relations(store, clock)
        self.tags = Tags(store.tags, standard_tags)
        self.erasure = ErasureService(store.erasure, clock)

    def record(self, principal: Principal, draft: MemoryDraft) -> Memory:
        """Store one memory."""
        (memory,) = self.recording.one(principal, draft).memories
        return memory

    def record_batch(self, principal: Principal, drafts: Sequence[MemoryDraft]) -> list[Memory]:
        """Store all the drafts or none, in order. The principal's agent is their maker."""
        return self.recording.batch(principal, drafts).memories

    def search(self, principal: Principal, query: MemoryQuery, full: bool = False) -> Page:
        """Return one page of the matches and mark exactly its memories as accessed.

        It is shorter than the limit where more could not be delivered, and then has more.
        """
        principal.require(READ)
        view = self._view(principal, full)
        return self._page(principal, query, view, partial(deliverable, view=view))

    def prime(self, principal: Principal, query: PrimingQuery, full: bool = False) -> PrimedContext:
        """Return the active preferences and identities, as many as ``max_chars`` has room for.

        Each page has half of the room, or what its first memory needs; the second has what the
        first leaves.
        """
        principal.require(READ)
        view = self._view(principal, full)
        room = query.max_chars - _ENVELOPES
        half = Room(room // 2, room, view)
        preferences = self._page(principal, query.of_type("preference"), view, _both(half, view))
        rest = Room(room - half.used, room - half.used, view)
        identities = self._page(principal, query.of_type("identity"), view, _both(rest, view))
        context = FullPrimedContext if full else PrimedContext
        return context.model_construct(preferences=preferences, identities=identities)

    def inspect(self, principal: Principal, memory_id: int, full: bool = False) -> Memory:
        """Return one memory and mark it as accessed. Raises MemoryNotFound."""
        principal.require(READ)
        record = self._store.access(principal, memory_id, self._now())
        if record is None:
            raise MemoryNotFound(memory_id)
        view = self._view(principal, full)
        view.look_up([record])
        return view.memory(record)

    def revise(
        self,
        principal: Principal,
        memory_id: int,
        patch: MemoryPatch,
        expected_version: int | None = None,
    ) -> Memory:
        """Change the fields that were sent and differ; without any, change nothing.

        Raises MemoryNotFound, NotPermitted, VersionMismatch, and WriteConflict when other writers
        won every try.
        """
        principal.require(WRITE)
        expected_version = _storable(expected_version)
        current = self._store.get(principal, memory_id)
        for tries in range(1, MAX_TRIES + 1):
            record = changeable(current, principal, memory_id, expected_version)
            changes = _differences(record, patch)
            if not changes:
                return memory_of(record)
            try:
                changed = self._store.update(
                    principal, memory_id, record.version, changes, self._now()
                )
            except ConditionFailed as lost:
                current = lost.current
                self._pause(tries)
            else:
                return memory_of(changed)
        raise WriteConflict

    def retire(
        self, principal: Principal, memory_id: int, expected_version: int | None = None
    ) -> Memory:
        """Mark one memory as deleted. Raises MemoryNotFound, NotPermitted, VersionMismatch."""
        principal.require(WRITE)
        expected_version = _storable(expected_version)
        try:
            retired = self._store.retire(principal, memory_id, expected_version, self._now())
        except ConditionFailed as refused:
            changeable(refused.current, principal, memory_id, expected_version)
            raise WriteConflict from refused
        return memory_of(retired)

    def permissions(self, principal: Principal, memory_id: int) -> Permissions:
        """Return who may use a memory. It is not marked as accessed. Raises MemoryNotFound."""
        principal.require(READ)
        return permissions_of(readable(self._store.get(principal, memory_id), principal, memory_id))

    def share(self, principal: Principal, memory_id: int, patch: PermissionsPatch) -> Permissions:
        """Change the grants that were sent, as its maker alone may.

        Raises MemoryNotFound, NotPermitted.
        """
        principal.require(WRITE)
        grants = patch.changes()
        if "shared_with_agents" in grants:
            grants["shared_with_agents"] = tuple(grants["shared_with_agents"])
        try:
            return permissions_of(self._store.grant(principal, memory_id, grants))
        except ConditionFailed as refused:
            readable(refused.current, principal, memory_id)
            raise NotPermitted("Only the agent that made this memory may share it") from refused

    def check(self) -> None:
        """Raise StoreUnavailable unless the store answers."""
        self._store.check()

    def _page(self, principal: Principal, query: MemoryQuery, view: View, fit: Fit) -> Page:
        selection = Selection(
            status=query.status,
            memory_type=query.memory_type,
            tag=query.tag,
            text=None if query.q is None else fold(query.q),
            sort=query.sort,
            limit=query.limit,
            offset=query.offset,
        )

        def fit_shown(records: Sequence[Record]) -> int:
            view.look_up(records)
            return fit(records)

        records, total = self._store.page(principal, selection, self._now(), fit_shown)
        return view.page(records, total, query)

    def _view(self, principal: Principal, full: bool) -> View:
        return View(full, partial(self.relations.related_ids, principal))

    def _now(self) -> str:
        return timestamp(self._clock())


def _both(room: Room, view: View) -> Fit:
    """Return what fits one of two pages: as much as there is room for and can be delivered."""

    def fit(records: Sequence[Record]) -> int:
        return room.fit(records[: deliverable(records, view, MAX_ANSWER // 2)])

    return fit


def _storable(version: int | None) -> int | None:
    # A version that no memory can have matches none, as 0 does; a store could not hold it.
    return version if version is None or version <= MAX_ID else 0


def _differences(record: Record, patch: MemoryPatch) -> dict[str, object]:
    sent = patch.changes()
    if "tags" in sent:
        sent["tags"] = tuple(sent["tags"])
    return {name: value for name, value in sent.items() if value != getattr(record, name)}

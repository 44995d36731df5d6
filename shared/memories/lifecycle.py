"""How a collection is kept healthy: three policies, each off unless it is set.

What was retired is removed for good after some days. What is not used loses importance, a step at
a time. Of what a user has too many, the least important and longest unused are retired. A run goes
from user to user within bounds, and the next one goes on where it stopped.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, NamedTuple

from memories.clock import Clock, utc_now
from memories.config import Settings
from memories.fields import timestamp
from memories.stores.port_maintenance import Candidate, Maintenance

Step = Literal["remove", "retire", "decay"]


@dataclass(frozen=True, slots=True)
class Policies:
    """What is to be done. A number of 0 turns a policy off."""

    # Days after which what was retired is removed.
    remove_deleted_days: int = 0
    # How many memories a user may have.
    max_memories: int = 0
    # Days without use after which importance goes down by one, and by one more after as many
    # again; and the importance below which it does not go.
    decay_days: int = 0
    decay_floor: int = 1

    @classmethod
    def of(cls, settings: Settings) -> "Policies":
        return cls(
            settings.remove_deleted_days,
            settings.max_memories,
            settings.decay_days,
            settings.decay_floor,
        )


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one run may do: changes, and seconds."""

    changes: int = 10_000
    seconds: float = 240


class Change(NamedTuple):
    """One thing that was done, or that would be."""

    step: Step
    user_id: str
    memory_id: int


@dataclass
class Report:
    """What a run did, or would do."""

    dry_run: bool
    users: int = 0
    changes: dict[Step, int] = field(default_factory=lambda: {"remove": 0, "retire": 0, "decay": 0})
    # Whether it came to the end of the users; if not, the next run goes on.
    finished: bool = False


class _Exhausted(Exception):
    """The bounds are reached."""


class Lifecycle:
    """Runs the policies over a store."""

    def __init__(
        self,
        store: Maintenance,
        policies: Policies,
        tell: Callable[[Change], None],
        clock: Clock = utc_now,
        bounds: Bounds = Bounds(),
    ) -> None:
        """``tell`` is told of each change when it is done, or would be: nothing is silent."""
        self._store = store
        self._policies = policies
        self._tell = tell
        self._clock = clock
        self._bounds = bounds

    def run(self, dry_run: bool = False) -> Report:
        """Run once, from where the last run stopped. A dry run only reports.

        Raises StoreUnavailable; what was done until then is done, and the next run does the rest.
        """
        run = _Run(
            self._store,
            self._policies,
            self._tell,
            clock=self._clock,
            bounds=self._bounds,
            dry_run=dry_run,
        )
        return run.report()


class _Run:
    """One run: its time, what it may still do, and its report."""

    def __init__(
        self,
        store: Maintenance,
        policies: Policies,
        tell: Callable[[Change], None],
        *,
        clock: Clock,
        bounds: Bounds,
        dry_run: bool,
    ) -> None:
        self._store = store
        self._policies = policies
        self._tell = tell
        self._clock = clock
        self._now = clock()
        self._deadline = self._now + timedelta(seconds=bounds.seconds)
        self._left = bounds.changes
        self._report = Report(dry_run)

    def report(self) -> Report:
        """Do it, and return the report."""
        if self._policies == Policies(decay_floor=self._policies.decay_floor):
            self._report.finished = True
            return self._report
        place = self._store.place()
        try:
            while True:
                users, place = self._store.users(place)
                for user_id in users:
                    self._user(user_id)
                    self._report.users += 1
                if not self._report.dry_run:
                    self._store.keep_place(place)
                if place is None:
                    self._report.finished = True
                    return self._report
        except _Exhausted:
            return self._report

    def _user(self, user_id: str) -> None:
        if self._policies.remove_deleted_days:
            self._remove(user_id)
        retired = self._retire(user_id) if self._policies.max_memories else set()
        if self._policies.decay_days:
            self._decay(user_id, retired)

    def _remove(self, user_id: str) -> None:
        before = self._days_ago(self._policies.remove_deleted_days)
        for memory in self._within_bounds(self._store.deleted(user_id)):
            if memory.deleted_at is None:
                if not self._report.dry_run:
                    self._store.date_deletion(memory, timestamp(self._now))
            elif memory.deleted_at <= before:
                self._do("remove", memory)

    def _retire(self, user_id: str) -> set[int]:
        """Return the ids of those that are too many."""
        most = self._policies.max_memories
        if not self._store.may_exceed(user_id, most):
            return set()
        kept = list(self._store.kept(user_id))
        surplus = heapq.nsmallest(len(kept) - most, kept, key=_worth)
        for memory in self._within_bounds(surplus):
            self._do("retire", memory)
        return {memory.id for memory in surplus}

    def _decay(self, user_id: str, retired: set[int]) -> None:
        before = self._days_ago(self._policies.decay_days)
        floor = self._policies.decay_floor
        for memory in self._within_bounds(self._store.unused(user_id, before)):
            is_due = memory.importance > floor and (memory.decayed_at or "") <= before
            # In a dry run, what was to be retired is still here.
            if is_due and memory.id not in retired:
                self._do("decay", memory)

    def _do(self, step: Step, memory: Candidate) -> None:
        if not self._left:
            raise _Exhausted
        if self._report.dry_run or self._done(step, memory):
            self._left -= 1
            self._report.changes[step] += 1
            self._tell(Change(step, memory.user_id, memory.id))

    def _done(self, step: Step, memory: Candidate) -> bool:
        at = timestamp(self._now)
        match step:
            case "remove":
                return self._store.remove(memory)
            case "retire":
                return self._store.retire(memory, at)
            case "decay":
                return self._store.decay(memory, at)

    def _within_bounds(self, memories: Iterable[Candidate]) -> Iterator[Candidate]:
        for memory in memories:
            if self._clock() > self._deadline:
                raise _Exhausted
            yield memory

    def _days_ago(self, days: int) -> str:
        return timestamp(self._now - timedelta(days=days))


def _worth(memory: Candidate) -> tuple[int, str, int]:
    return memory.importance, memory.used_at, memory.id

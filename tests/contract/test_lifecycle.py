"""The lifecycle's policies, on both stores, against a clock that is moved."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any, cast

import pytest

from clock import Clock
from memories.errors import MemoryNotFound, StoreUnavailable
from memories.lifecycle import Bounds, Change, Lifecycle, Policies, Report
from memories.models import MemoryDraft, MemoryPatch, MemoryQuery
from memories.principal import SCOPES, Principal
from memories.relation_models import RelationDraft, RelationQuery
from memories.service import MemoryService
from memories.stores.port import Record, Store
from memories.stores.port_maintenance import Candidate, Maintenance

DAY = timedelta(days=1).total_seconds()
USERS = [Principal(name, "agent", frozenset(SCOPES)) for name in ("anna", "Zoë/#%", "anna#1")]
ANNA = USERS[0]
ALL = Policies(remove_deleted_days=30, max_memories=3, decay_days=10, decay_floor=4)


class Runner:
    """Runs the policies and remembers the changes of the last run."""

    def __init__(self, store: Maintenance, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self.changes: list[Change] = []

    def __call__(
        self, policies: Policies = ALL, dry_run: bool = False, bounds: Bounds | None = None
    ) -> Report:
        self.changes = []
        lifecycle = Lifecycle(
            self.store, policies, self.changes.append, self.clock, bounds or Bounds()
        )
        return lifecycle.run(dry_run)

    def steps(self) -> set[tuple[str, str, int]]:
        return set(self.changes)


@pytest.fixture
def run(store: Store, clock: Clock) -> Runner:
    return Runner(store.maintenance, clock)


def record(service: MemoryService, user: Principal, *importances: int) -> None:
    for importance in importances:
        draft = MemoryDraft(content="Likes tea", tags=["drinks"], importance=importance)
        service.record(user, draft)


def stored(store: Store, user: Principal = ANNA) -> list[Record | None]:
    return [store.get(user, memory_id) for memory_id in range(1, 8)]


def everything(store: Store) -> list[list[Record | None]]:
    return [stored(store, user) for user in USERS]


def collection(service: MemoryService, clock: Clock) -> None:
    """Give each user two deleted memories, and five of which some are unused and two too many."""
    for user in USERS:
        record(service, user, 5, 5, 3, 9, 5, 9, 7)
        service.retire(user, 1)
        service.retire(user, 2)
    clock.advance(31 * DAY)
    for user in USERS:
        service.inspect(user, 4)


# What ALL does to each user's.
STEPS = {
    *(("remove", user.user_id, memory_id) for user in USERS for memory_id in (1, 2)),
    *(("retire", user.user_id, memory_id) for user in USERS for memory_id in (3, 5)),
    *(("decay", user.user_id, memory_id) for user in USERS for memory_id in (6, 7)),
}


def test_nothing_is_done_unless_it_is_set(
    store: Store, service: MemoryService, clock: Clock, run: Runner
) -> None:
    collection(service, clock)
    before = everything(store)

    report = run(Policies())

    assert report.finished
    assert not run.changes
    assert everything(store) == before


def test_what_was_retired_is_removed_for_good_when_its_days_are_over(
    store: Store, service: MemoryService, clock: Clock, run: Runner
) -> None:
    policies = Policies(remove_deleted_days=30)
    record(service, ANNA, 5, 5, 5)
    service.relations.relate(ANNA, 1, "follows", 2, RelationDraft())
    service.relations.relate(ANNA, 3, "follows", 1, RelationDraft())
    service.relations.relate(ANNA, 3, "follows", 2, RelationDraft())
    clock.advance(100 * DAY)
    service.retire(ANNA, 1)

    clock.advance(30 * DAY - 1)
    assert run(policies).changes["remove"] == 0
    assert store.get(ANNA, 1) is not None
    clock.advance(1)
    assert run(policies).changes == {"remove": 1, "retire": 0, "decay": 0}
    assert run.changes == [("remove", "anna", 1)]

    assert store.get(ANNA, 1) is None
    assert service.search(ANNA, MemoryQuery(status="deleted")).total == 0
    assert service.search(ANNA, MemoryQuery(q="tea")).total == 2
    left = service.relations.listed(ANNA, 3, RelationQuery(direction="both"))
    assert [(each.from_id, each.to_id) for each in left.items] == [(3, 2)]
    assert service.relations.listed(ANNA, 2, RelationQuery(direction="both")).total == 1
    record(service, ANNA, 5)
    assert store.get(ANNA, 4) is not None  # its id is not given again


def test_what_is_not_used_loses_importance_step_by_step_and_not_below_the_floor(
    store: Store, service: MemoryService, clock: Clock, run: Runner
) -> None:
    policies = Policies(decay_days=10, decay_floor=3)
    record(service, ANNA, 5, 3, 0)
    before = store.get(ANNA, 1)
    assert before

    importances = []
    for _ in range(5):
        clock.advance(10 * DAY - 1)
        run(policies)
        clock.advance(1)
        run(policies)
        run(policies)
        importances.append([each.importance for each in stored(store) if each])

    assert importances == [[4, 3, 0], [3, 3, 0], [3, 3, 0], [3, 3, 0], [3, 3, 0]]
    assert store.get(ANNA, 1) == before._replace(importance=3)


@pytest.mark.parametrize("use", ["read", "list", "revise"])
def test_use_keeps_importance(
    store: Store, service: MemoryService, clock: Clock, run: Runner, use: str
) -> None:
    record(service, ANNA, 5)
    clock.advance(9 * DAY)
    match use:
        case "read":
            service.inspect(ANNA, 1)
        case "list":
            service.search(ANNA, MemoryQuery())
        case _:
            service.revise(ANNA, 1, MemoryPatch(content="Likes coffee"))
    clock.advance(9 * DAY)

    assert run(Policies(decay_days=10)).changes["decay"] == 0


@pytest.mark.onward
def test_of_too_many_the_least_important_and_longest_unused_are_retired(
    store: Store, service: MemoryService, clock: Clock, run: Runner
) -> None:
    record(service, ANNA, 5, 5, 9, 1, 5)
    record(service, USERS[1], 1, 1)
    service.retire(ANNA, 5)
    clock.advance()
    service.inspect(ANNA, 1)
    before = stored(store)

    assert run(Policies(max_memories=2)).changes["retire"] == 2

    assert run.changes == [("retire", "anna", 4), ("retire", "anna", 2)]
    expected = [
        each._replace(status="deleted") if each and each.id in {2, 4} else each for each in before
    ]
    assert stored(store) == expected
    assert run(Policies(max_memories=2)).changes["retire"] == 0
    assert service.search(USERS[1], MemoryQuery()).total == 2


def test_all_policies_do_what_the_dry_run_says_and_that_does_nothing(
    store: Store, service: MemoryService, clock: Clock, run: Runner
) -> None:
    collection(service, clock)
    before = everything(store)

    dry = run(dry_run=True)
    would, places = run.changes, store.maintenance.place()
    assert (everything(store), places) == (before, None)
    real = run()

    assert asdict(dry) | {"dry_run": False} == asdict(real)
    assert would == run.changes
    assert run.steps() == STEPS
    assert real.users == len(USERS)
    assert real.finished
    assert not any(run().changes.values())


def test_what_the_policies_do_is_not_a_use_and_not_an_update(
    service: MemoryService, clock: Clock, run: Runner, store: Store
) -> None:
    collection(service, clock)
    before = store.get(ANNA, 7)
    assert before
    run()

    assert store.get(ANNA, 7) == before._replace(importance=6)
    with pytest.raises(MemoryNotFound):
        service.inspect(ANNA, 3)


class Breaking:
    """A store that breaks at one of its writes, before or after it is done."""

    def __init__(self, store: Maintenance, at: int, after: bool) -> None:
        self.store = store
        self.left = at
        self.after = after

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.store, name)
        if name not in {"remove", "retire", "decay", "keep_place"}:
            return method

        def breaking(*arguments: Any) -> Any:
            self.left -= 1
            if self.left == 0 and not self.after:
                raise StoreUnavailable
            result = method(*arguments)
            if self.left == 0:
                raise StoreUnavailable
            return result

        return breaking


@pytest.mark.parametrize("after", [False, True])
def test_a_run_that_breaks_off_is_made_good_by_the_next(
    store: Store, service: MemoryService, clock: Clock, after: bool
) -> None:
    collection(service, clock)
    done: set[Change] = set()
    # It breaks at its first write, then at the second of what is left, and so on.
    for at in range(1, 4):
        broken = Runner(cast("Maintenance", Breaking(store.maintenance, at, after)), clock)
        with pytest.raises(StoreUnavailable):
            broken()
        done |= set(broken.changes)
    last = Runner(store.maintenance, clock)
    assert last().finished
    done |= set(last.changes)

    # Of a change whose answer was lost, only the store knows.
    assert done <= STEPS
    assert len(done) >= len(STEPS) - 3
    for user in USERS:
        kept = stored(store, user)
        assert [each and (each.status, each.importance) for each in kept] == [
            None,
            None,
            ("deleted", 3),
            ("active", 9),
            ("deleted", 5),
            ("active", 8),
            ("active", 6),
        ]


class Meeting:
    """A store in which, before a run's write of a kind, another whole run takes place."""

    def __init__(self, store: Maintenance, step: str, other: Runner) -> None:
        self.store = store
        self.step = step
        self.other = other
        self.has_met = False

    def __getattr__(self, name: str) -> Any:
        if name == self.step and not self.has_met:
            self.has_met = True
            self.other()
        return getattr(self.store, name)


@pytest.mark.parametrize("step", ["remove", "retire", "decay"])
def test_two_runs_at_once_do_each_change_once(
    store: Store, service: MemoryService, clock: Clock, step: str
) -> None:
    collection(service, clock)
    other = Runner(store.maintenance, clock)
    one = Runner(cast("Maintenance", Meeting(store.maintenance, step, other)), clock)
    one()

    assert one.steps() | other.steps() == STEPS
    assert not one.steps() & other.steps()


def test_what_is_used_meanwhile_is_left_alone(
    store: Store, service: MemoryService, clock: Clock, run: Runner
) -> None:
    collection(service, clock)
    found = {each.id: each for each in store.maintenance.kept("anna")}
    deleted = {each.id: each for each in store.maintenance.deleted("anna")}
    service.inspect(ANNA, 3)
    service.revise(ANNA, 5, MemoryPatch(importance=10))

    for memory_id in (3, 5):
        assert not store.maintenance.retire(found[memory_id], clock.now)
        assert not store.maintenance.decay(found[memory_id], clock.now)
    assert not store.maintenance.remove(found[3])
    changed: Candidate = deleted[1]._replace(deleted_at=clock.now)
    assert not store.maintenance.remove(changed)
    assert store.get(ANNA, 1) is not None


def test_a_run_keeps_to_its_bounds_and_the_next_goes_on(
    store: Store, service: MemoryService, clock: Clock, run: Runner
) -> None:
    collection(service, clock)
    done: list[Change] = []
    for _ in range(len(STEPS)):
        report = run(bounds=Bounds(changes=4))
        done += run.changes
        assert len(run.changes) <= 4
        if report.finished:
            break

    assert len(done) == len(STEPS)
    assert set(done) == STEPS


def test_a_run_stops_when_its_time_is_over(
    store: Store, service: MemoryService, clock: Clock
) -> None:
    collection(service, clock)
    done: list[Change] = []

    def tell(change: Change) -> None:
        done.append(change)
        clock.advance(60)

    lifecycle = Lifecycle(store.maintenance, ALL, tell, clock, Bounds(seconds=100))
    assert not lifecycle.run().finished
    assert len(done) == 2
    while not lifecycle.run().finished:
        pass
    assert set(done) == STEPS

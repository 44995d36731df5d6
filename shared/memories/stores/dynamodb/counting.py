"""All matches of a listing of many memories: by a snapshot where there is one, else by a walk.

A snapshot has those that matched some time ago. What was written since then is looked at: what was
created in the table itself, for ids are given in order; what was changed in an index by the time of
its change. Under steady use snapshots follow: they are stored anew from what was so found.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import suppress

from memories.errors import StoreUnavailable
from memories.stores.dynamodb import keys, stamps
from memories.stores.dynamodb.counters import Counter, Counters
from memories.stores.dynamodb.expressions import indexed_above, indexed_of, listed
from memories.stores.dynamodb.items import Grants, Item
from memories.stores.dynamodb.listing import Listing, Matches
from memories.stores.dynamodb.newest import NEWEST, Newest, correct_by, memory_id_of
from memories.stores.dynamodb.queries import Queries
from memories.stores.dynamodb.snapshots import Snapshot, Snapshots

# With more changes than this to look at, a walk is made.
_MOST_CHANGED = 1_000

# With more than this that a snapshot of now would not have to look at, it is stored.
_MANY_CHANGED = 100

_CHANGED = listed(["changed_sort", "status", "memory_type", "tags", *Grants._fields])


class Counting:
    """Finds all of many matches in one table."""

    def __init__(
        self,
        queries: Queries,
        newest: Newest,
        counters: Counters,
        snapshots: Snapshots,
        workers: Executor,
    ) -> None:
        self._queries = queries
        self._newest = newest
        self._counters = counters
        self._snapshots = snapshots
        self._workers = workers

    def find(self, listing: Listing, newest: Item) -> tuple[Matches, int]:
        """Return the matches, and about how many memories the user has.

        ``newest`` is the first answer of the newest memories.
        """
        counter, snapshot = self._snapshots.read(
            listing.principal, listing.selection, listing.began
        )
        if counter and snapshot:
            found = self._by_snapshot(listing, newest, counter, snapshot)
            if found:
                return found, counter.last_id
        return self._by_walk(listing, newest, counter)

    def _by_snapshot(
        self, listing: Listing, newest: Item, counter: Counter, snapshot: Snapshot
    ) -> Matches | None:
        """Return the matches, or None if too much was written since the snapshot."""
        changing = self._workers.submit(self._changed, listing.user_id, snapshot.at)
        created = self._newest.after(listing.user_id, snapshot.settled, newest)
        changed = changing.result()
        if created is None or changed is None:
            return None
        found = Matches(set(snapshot.ids), {})
        for item in changed:
            memory_id = keys.id_in(item["changed_sort"]["S"])
            found.drop(memory_id)
            if listing.has(item):
                found.ids.add(memory_id)
        # Last, for the table does not lag behind.
        correct_by(created, listing, found)
        settled = _settled(created, snapshot.settled, listing.began)
        if settled > snapshot.settled + NEWEST or _passed(changed, listing.began) > _MANY_CHANGED:
            # The snapshot follows. That saves work later, and is nothing that was asked for.
            ids = sorted(each for each in found.ids if each <= settled)
            now = Snapshot(ids, settled, listing.began, snapshot.walked_at)
            with suppress(StoreUnavailable):
                self._snapshots.store(listing.principal, listing.selection, now, counter.epoch)
        return found

    def _changed(self, user_id: str, since: float) -> Sequence[Item] | None:
        """Return what the index has of all memories that a snapshot may have missed the change of.

        None if they are too many.
        """
        answer = self._queries.answer(
            indexed_above(user_id, "changed_sort", stamps.moment(since - stamps.MARGIN)),
            _CHANGED,
            IndexName="by_changed_at",
            Limit=_MOST_CHANGED,
        )
        return None if "LastEvaluatedKey" in answer else answer["Items"]

    def _by_walk(
        self, listing: Listing, newest: Item, counter: Counter | None
    ) -> tuple[Matches, int]:
        # By a time that never changes, so that each entry is met once.
        answers = self._queries.answers(
            indexed_of(listing.user_id),
            listed(["created_sort"]),
            listing.filter,
            IndexName="by_created_at",
        )
        found = Matches(set(), {})
        size = 0
        for answer in answers:
            size += answer["ScannedCount"]
            for item in answer["Items"]:
                value = item["created_sort"]["S"]
                found.put(keys.id_in(value), value)
        if listing.attribute != "created_sort":
            found.values.clear()
        self._newest.correct(listing, found, newest)
        with suppress(StoreUnavailable):
            self._keep(listing, newest, counter, found, size)
        return found, size

    def _keep(
        self, listing: Listing, newest: Item, counter: Counter | None, found: Matches, size: int
    ) -> None:
        """Store a snapshot of what a walk found, if it is sure to have met all up to some id."""
        if counter is None or not counter.is_quiet(listing.began) or not newest["Items"]:
            return
        oldest = newest["Items"][-1]
        by_age = stamps.is_settled(oldest, listing.began)
        # Else by number: the walk met as many as ids had been given, so none was on its way.
        if not by_age and size != counter.last_id:
            return
        after = self._counters.read(listing.user_id)
        if after is None or after.epoch != counter.epoch:
            return
        if not by_age and after.last_id != counter.last_id:
            # One of those met may have an id that was given meanwhile.
            return
        settled = memory_id_of(oldest) if by_age else counter.last_id
        ids = sorted(each for each in found.ids if each <= settled)
        snapshot = Snapshot(ids, settled, listing.began, listing.began)
        self._snapshots.store(listing.principal, listing.selection, snapshot, counter.epoch)


def _settled(created: Sequence[Item], settled: int, now: float) -> int:
    """Return the id up to which no other is on its way into the table, by those after one."""
    for item in created:
        memory_id = memory_id_of(item)
        if memory_id > settled + 1 and not stamps.is_settled(item, now):
            break
        settled = max(settled, memory_id)
    return settled


def _passed(changed: Sequence[Item], now: float) -> int:
    """Return how many of the changes a snapshot of now cannot miss."""
    limit = stamps.moment(now - stamps.MARGIN)
    return sum(item["changed_sort"]["S"] < limit for item in changed)

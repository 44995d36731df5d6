"""The order of a listing of the DynamoDB store, as far down as its page."""

from math import ceil

from memories.stores.dynamodb.batches import Batches
from memories.stores.dynamodb.expressions import indexed_above, indexed_of, listed
from memories.stores.dynamodb.listing import Listing, Matches, Walk
from memories.stores.dynamodb.queries import Queries

# Read units, where a read need not be consistent: for an entry of an index, and for a memory, of
# which one that is not long takes one read.
_ENTRY_COST = 300 / 4096 / 2
_MEMORY_COST = 1 / 2

# How many more entries of an index are asked for than are thought to be needed, in parts and at
# least: to ask twice takes longer.
_ALLOWANCE = 1.25
_LEAST = 25


class Ordering:
    """Orders of listings of one table."""

    def __init__(self, queries: Queries, batches: Batches) -> None:
        self._queries = queries
        self._batches = batches

    def page(self, listing: Listing, found: Matches) -> list[int]:
        """Return the ids of the page, in order. Matches that prove to be gone are dropped."""
        part = slice(listing.selection.offset, listing.selection.offset + listing.selection.limit)
        if listing.selection.sort == "id":
            return sorted(found.ids)[part]
        if found.walk and part.start < len(found.ids):
            if part.start == 0 and part.stop >= len(found.ids):
                # All are on this page, and it puts what it fetches in order.
                return list(found.ids)
            self._read_down(listing, found, found.walk, min(part.stop, len(found.ids)))
        return in_order(found.values, listing.selection.sort)[part]

    def _read_down(self, listing: Listing, found: Matches, walk: Walk, count: int) -> None:
        """Complete the values so that the first ``count`` are known to be the first."""
        reached = walk.next_key[listing.attribute]["S"]
        lacking = count - _known(found, reached)
        if lacking <= 0:
            return
        entries = lacking * walk.size / len(found.ids)
        unknown = len(found.ids) - len(found.values)
        if unknown * _MEMORY_COST < entries * _ENTRY_COST or not self._walk_down(
            listing, found, walk, count, ceil(entries * _ALLOWANCE) + _LEAST
        ):
            self._read_unknown(listing, found)

    def _walk_down(
        self, listing: Listing, found: Matches, walk: Walk, count: int, entries: int
    ) -> bool:
        """Walk on until the first ``count`` are known. Say whether they are."""
        answers = self._queries.answers(
            indexed_of(listing.user_id),
            listed([listing.attribute]),
            listing.filter,
            IndexName=listing.index,
            ScanIndexForward=False,
            ExclusiveStartKey=walk.next_key,
            Limit=entries,
        )
        are_known = False
        for answer in answers:
            for memory_id, value in listing.values(answer["Items"]).items():
                if memory_id in found.ids:
                    found.values.setdefault(memory_id, value)
            if "LastEvaluatedKey" in answer:
                reached = answer["LastEvaluatedKey"][listing.attribute]["S"]
                are_known = _known(found, reached) >= count
                if are_known:
                    break
        # What was changed or accessed meanwhile has moved up, past where the walk was.
        risen = self._queries.answer(
            indexed_above(listing.user_id, listing.attribute, walk.top),
            listed([listing.attribute]),
            listing.filter,
            IndexName=listing.index,
        )
        for memory_id, value in listing.values(risen["Items"]).items():
            if memory_id in found.ids:
                found.values[memory_id] = value
        return are_known or found.ids == found.values.keys()

    def _read_unknown(self, listing: Listing, found: Matches) -> None:
        """Complete the values from the table."""
        projection = listed(["id", listing.attribute])
        # What a cheap read does not find was created a moment ago, or is gone.
        for consistent in (False, True):
            unknown = sorted(found.ids - found.values.keys())
            items = self._batches.memories(
                listing.user_id, unknown, projection, consistent=consistent
            )
            found.values |= listing.values(items.values())
        found.ids &= found.values.keys()


def in_order(values: dict[int, str], sort: str) -> list[int]:
    """Return the ids in the order of a sort, by the values that they sort by."""
    if sort == "id":
        return sorted(values)
    return sorted(values, key=values.__getitem__, reverse=True)


def _known(found: Matches, reached: str) -> int:
    """Return how many of the first matches are known to be, after a walk down to a value."""
    return sum(value >= reached for value in found.values.values())

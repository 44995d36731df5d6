"""Pages of the DynamoDB store: find, order, fetch and have marked as accessed.

Whatever an index has of a memory, it is shown as it is in the table, and only where it belongs.
"""

from collections.abc import Sequence

from memories.principal import Principal
from memories.stores.dynamodb.batches import Batches
from memories.stores.dynamodb.expressions import listed
from memories.stores.dynamodb.items import SORT_ATTRIBUTES, is_readable, record_of
from memories.stores.dynamodb.listing import Listing
from memories.stores.dynamodb.marks import Marks, marked
from memories.stores.dynamodb.matching import Matching
from memories.stores.dynamodb.ordering import Ordering, in_order
from memories.stores.dynamodb.stamps import Wall
from memories.stores.port import Fit, Record, Selection

_WHOLE = listed([*Record._fields, *sorted(set(SORT_ATTRIBUTES.values()))])


class Pages:
    """Pages of one table."""

    def __init__(
        self,
        matching: Matching,
        ordering: Ordering,
        batches: Batches,
        marks: Marks,
        wall: Wall,
    ) -> None:
        self._matching = matching
        self._ordering = ordering
        self._batches = batches
        self._marks = marks
        self._wall = wall

    def page(
        self, principal: Principal, selection: Selection, accessed_at: str, fit: Fit
    ) -> tuple[list[Record], int]:
        """Return the page as Store.page does, but for the access counts as Marks has them."""
        listing = Listing(principal, selection, accessed_at, self._wall())
        matches = self._matching.find(listing)
        chosen = self._ordering.page(listing, matches)
        if not chosen:
            return [], len(matches.ids)
        found = self._batches.memories(principal.user_id, chosen, _WHOLE)
        fresh = listing.values(
            found[memory_id]
            for memory_id in chosen
            if memory_id in found and listing.has(found[memory_id])
        )
        records = [
            marked(record_of(found[memory_id]), accessed_at)
            for memory_id in in_order(fresh, selection.sort)
        ]
        kept = records[: fit(records)]
        gone = self._marks.store(principal, kept)
        # A row that proved to be no match is no match in the count either. It is not replaced by
        # one of the next page, which would then come twice.
        total = len(matches.ids) - (len(chosen) - len(fresh)) - len(gone)
        return [record for record in kept if record.id not in gone], total

    def count(self, principal: Principal, selection: Selection, at: str) -> int:
        """Return the number of matches, as a page would have it."""
        listing = Listing(principal, selection, at, self._wall())
        return len(self._matching.find(listing).ids)

    def access_all(
        self, principal: Principal, memory_ids: Sequence[int], accessed_at: str, fit: Fit
    ) -> list[Record]:
        """Return the records as Store.access_all does."""
        found = self._batches.memories(principal.user_id, memory_ids, _WHOLE)
        records = [
            marked(record_of(found[memory_id]), accessed_at)
            for memory_id in memory_ids
            if memory_id in found and is_readable(found[memory_id], principal.agent_id)
        ]
        kept = records[: fit(records)]
        gone = self._marks.store(principal, kept)
        return [record for record in kept if record.id not in gone]

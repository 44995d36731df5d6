"""Matches of the DynamoDB store: which memories are in a listing, before it is cut into pages.

The memories of most users are few, and all are looked at. Of many, see Counting.

An index lags behind its table for a moment. What was created is covered here: the newest memories
are read from the table itself. What was changed may for that moment be missing, or be counted,
under its new status, type, tags or grants.
"""

from concurrent.futures import Executor

from memories.stores.dynamodb.counting import Counting
from memories.stores.dynamodb.expressions import indexed_of, listed, memories_of
from memories.stores.dynamodb.items import Item
from memories.stores.dynamodb.listing import Listing, Matches, Walk
from memories.stores.dynamodb.newest import Newest
from memories.stores.dynamodb.queries import Queries

# Who has no more memories than this has no snapshots.
FIRST_LOOK = 300


class Matching:
    """Finds the matches in one table."""

    def __init__(
        self,
        queries: Queries,
        newest: Newest,
        counting: Counting,
        workers: Executor,
        first_look: int,
    ) -> None:
        self._queries = queries
        self._newest = newest
        self._counting = counting
        self._workers = workers
        self._first_look = first_look

    def find(self, listing: Listing) -> Matches:
        if listing.selection.text is not None:
            return self._among_all(listing)
        newest = self._workers.submit(self._newest.first, listing.user_id)
        # Downwards, as pages are by all sorts but the id: of many, it is the way to the page.
        look = self._queries.answer(
            indexed_of(listing.user_id),
            listed([listing.attribute]),
            listing.filter,
            IndexName=listing.index,
            ScanIndexForward=False,
            Limit=self._first_look,
        )
        seen = listing.values(look["Items"])
        if "LastEvaluatedKey" not in look:
            found = Matches(set(seen), seen)
            self._newest.correct(listing, found, newest.result())
            return found
        return self._among_many(listing, look["LastEvaluatedKey"], seen, newest.result())

    def _among_all(self, listing: Listing) -> Matches:
        """Find a text, which is not in the indexes. The table itself does not lag."""
        answers = self._queries.answers(
            memories_of(listing.user_id),
            listed([listing.attribute]),
            listing.filter,
            ConsistentRead=True,
        )
        found: dict[int, str] = {}
        for answer in answers:
            found |= listing.values(answer["Items"])
        return Matches(set(found), found)

    def _among_many(
        self, listing: Listing, next_key: Item, seen: dict[int, str], newest: Item
    ) -> Matches:
        found, size = self._counting.find(listing, newest)
        for memory_id in found.ids.intersection(seen) - found.values.keys():
            found.values[memory_id] = seen[memory_id]
        if found.ids != found.values.keys():
            reached = next_key[listing.attribute]["S"]
            found.walk = Walk(max(seen.values(), default=reached), next_key, size)
        return found

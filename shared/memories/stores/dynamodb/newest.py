"""The newest memories of a user, as they are in the table itself.

An index lags behind its table for a moment; so what was just created is looked up here.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from memories.fields import timestamp
from memories.stores.dynamodb import keys
from memories.stores.dynamodb.expressions import listed, memories_after, memories_of
from memories.stores.dynamodb.items import SORT_ATTRIBUTES, Grants, Item
from memories.stores.dynamodb.listing import Listing, Matches
from memories.stores.dynamodb.queries import Queries

# What was created longer ago than this is in the indexes, which are behind by far less.
LAG = timedelta(seconds=10)

# How many are read at first.
NEWEST = 25

# How many more are read, where a snapshot asks for them. They are read whole.
_MOST = 200

# What matches() needs where there is no text to look for, what any sort needs, and the stamp.
_SORTS = sorted(set(SORT_ATTRIBUTES.values()))
_LEAN = listed(["sk", "status", "memory_type", "tags", *Grants._fields, *_SORTS, "put_at"])


class Newest:
    """The newest memories in one table, by user."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    def first(self, user_id: str, **start: Any) -> Item:
        """Return the answer with the newest, or with those before ``ExclusiveStartKey``."""
        return self._queries.answer(
            memories_of(user_id),
            _LEAN,
            ConsistentRead=True,
            ScanIndexForward=False,
            Limit=NEWEST,
            **start,
        )

    def after(self, user_id: str, memory_id: int, newest: Item) -> list[Item] | None:
        """Return the first answer's items and those before them down to an id, in order of ids.

        None if these are too many.
        """
        items: list[Item] = newest["Items"][::-1]
        oldest = memory_id_of(items[0]) if items else 0
        if "LastEvaluatedKey" not in newest or oldest <= memory_id + 1:
            return items
        between = self._queries.answer(
            memories_after(user_id, memory_id, oldest - 1),
            _LEAN,
            ConsistentRead=True,
            Limit=_MOST,
        )
        return None if "LastEvaluatedKey" in between else [*between["Items"], *items]

    def correct(self, listing: Listing, found: Matches, newest: Item) -> None:
        """Correct the matches that an index has by the newest memories.

        ``newest`` is the first answer. More are read as long as the index may not have them.
        """
        lagging_since = timestamp(datetime.fromisoformat(listing.now) - LAG)
        met = False
        while True:
            lags = False
            for item in newest["Items"]:
                indexed = memory_id_of(item) in found.ids
                if correct_by([item], listing, found):
                    met, lags = True, not indexed
            # The oldest match read was not in the index: the one before it may not be either. Of
            # memories that are no match, only their age tells whether the index has them.
            recent = newest["Items"] and newest["Items"][-1]["created_sort"]["S"] > lagging_since
            if not (lags or (recent and not met)) or "LastEvaluatedKey" not in newest:
                return
            newest = self.first(listing.user_id, ExclusiveStartKey=newest["LastEvaluatedKey"])


def memory_id_of(item: Item) -> int:
    """Return the id of an item of the table that was read in part."""
    return keys.id_in(item["sk"]["S"])


def correct_by(items: Iterable[Item], listing: Listing, found: Matches) -> bool:
    """Correct the matches by memories as they are in the table; say whether one is a match."""
    met = False
    for item in items:
        memory_id = memory_id_of(item)
        found.drop(memory_id)
        if listing.has(item):
            met = True
            found.put(memory_id, item[listing.attribute]["S"])
    return met

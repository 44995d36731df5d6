"""When memories were written, by the clocks of the hosts that wrote them.

These times are not those that memories show: which come from the service, and may be of any year,
as when records are brought in from elsewhere. They tell what a snapshot of the matches can have
missed.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from memories.fields import timestamp
from memories.stores.dynamodb import keys
from memories.stores.dynamodb.items import Item

# Seconds since 1970, by the host's clock.
Wall = Callable[[], float]

# In seconds. What was written longer ago than this is in the table and in its indexes, on every
# host's clock. AWS refuses a request that was signed more than some minutes from its own time, so
# neither can a host's clock be that far off nor a write be that late; and the indexes are behind
# by far less.
MARGIN = 15 * 60

# What decides whether a memory is in a listing. A text does too, but no snapshot is of one.
_DECIDING = {"status", "memory_type", "tags", "is_public", "shared_with_agents"}


def created(now: float) -> Item:
    """Return the attribute of a memory that it is created with, under an id just given."""
    return {"put_at": {"N": str(int(now))}}


def changed(memory_id: int, now: float) -> Item:
    """Return the attribute by which a changed memory is found in its index."""
    return {"changed_sort": {"S": keys.moment(moment(now), memory_id)}}


def changed_by(values: Item, memory_id: int, now: float) -> Item:
    """Return that attribute, if the new values can move the memory into or out of a listing."""
    return {} if _DECIDING.isdisjoint(values) else changed(memory_id, now)


def moment(seconds: float) -> str:
    """Return the time that the stamp of a change begins with."""
    return timestamp(datetime.fromtimestamp(seconds, UTC))


def is_settled(item: Item, now: float) -> bool:
    """Say whether no id from before the memory's can still be on its way into the table.

    Ids are given in order.
    """
    return not is_stamped(item) or int(item["put_at"]["N"]) < now - MARGIN


def is_stamped(item: Item) -> bool:
    """Say whether the memory was created with the attribute, and is not older than it."""
    return "put_at" in item

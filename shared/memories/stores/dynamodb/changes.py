"""From changes of the table's items, as its stream tells of them, to the accesses they are. Pure.

An item's last writer is an attribute of its own, so a change says who made it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memories.stores.dynamodb import keys
from memories.stores.dynamodb.items import Item
from memories.stores.port_log import Access

# What of an item differs before and after a read.
_READ = ("last_accessed_at", "access_count")


class Logged(NamedTuple):
    """An access, and of which memory it is."""

    user_id: str
    memory_id: int
    access: Access


def accesses_in(change: Mapping[str, Any]) -> Iterator[Logged]:
    """Yield the accesses that a change is: its ``dynamodb`` part in a stream's record."""
    after: Item = change["NewImage"]
    before: Item = change.get("OldImage", {})
    user_id, sort_key = keys.owner_in(after["pk"]["S"]), after["sk"]["S"]
    if sort_key.startswith(keys.RELATION_PREFIX):
        found = _references(after)
    else:
        found = _uses(before, after) if before else iter(())
    for access in found:
        # Of a relation, it is the memory that it leads to: both kinds of key end with an id.
        yield Logged(user_id, keys.id_in(sort_key), access)


def _uses(before: Item, after: Item) -> Iterator[Access]:
    """Yield what was done with a memory. What nobody is named for is no access."""
    if "accessed_by" in after and any(before.get(name) != after.get(name) for name in _READ):
        yield Access(after["last_accessed_at"]["S"], "read", after["accessed_by"]["S"])
    if "updated_by" in after and int(after["version"]["N"]) > int(before["version"]["N"]):
        yield Access(after["updated_at"]["S"], "update", after["updated_by"]["S"])


def _references(relation: Item) -> Iterator[Access]:
    """Yield that a memory was referred to. A relation that was imported was not made now."""
    if "made_by" in relation:
        yield Access(relation["made_at"]["S"], "reference", relation["made_by"]["S"])

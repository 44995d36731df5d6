"""Tokens that calls leave in the items they write.

The client repeats a call whose answer it did not get, and then the call may meet what it has
itself written. So a call leaves a token of its own in the item, and a condition that fails on an
item with that token has not failed: the call is done.
"""

import secrets

from memories.stores.dynamodb.items import Item, attributes

# One for the writes, and one for the readings: a reading between two attempts of a write must not
# remove what tells that the write was done.
WRITE = "write_token"
READ = "read_token"

# As good as never drawn twice, and short, for every memory keeps two.
_BYTES = 12


def new_token(name: str) -> Item:
    """Return the attribute with a token that no other call has."""
    return attributes({name: secrets.token_urlsafe(_BYTES)})


def is_own(found: Item, written: Item) -> bool:
    """Say whether an item was left by the call that wrote ``written``."""
    return any(name in written and found.get(name) == written[name] for name in (WRITE, READ))

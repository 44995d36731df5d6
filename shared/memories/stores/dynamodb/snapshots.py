"""Snapshots of the DynamoDB store: which of a user's memories were in a listing at some time.

With what was written since then, a snapshot tells which are in it now, and so their number, without
a look at each. It is one item in the user's partition for each agent and each set of filters.

What is written leaves its stamp; what is erased does not. So each erasure changes the epoch of the
user, and a snapshot counts in its own epoch only.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from memories.principal import Principal
from memories.stores.dynamodb import keys
from memories.stores.dynamodb.batches import Batches
from memories.stores.dynamodb.counters import Counter, counter_key, counter_of
from memories.stores.dynamodb.expressions import listed
from memories.stores.dynamodb.failures import failures_sorted
from memories.stores.dynamodb.items import Item, key_of
from memories.stores.dynamodb.stamps import MARGIN
from memories.stores.port import Selection

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# In seconds. Whatever should go wrong with a snapshot is over when it is made anew.
LIFETIME = 24 * 60 * 60

# In bytes, of the ids. An item may have 400 kB.
_MOST = 300_000

_READ = listed(["sk", "last_id", "epoch", "erased_at", "ids", "settled", "at", "walked_at"])


class Snapshot(NamedTuple):
    """The ids up to ``settled`` that were in a listing ``at`` a time, in order.

    None up to ``settled`` was on its way into the table then. The times are in seconds by the
    hosts' clocks; ``walked_at`` is when the listing was last made up anew, from all memories.
    """

    ids: Sequence[int]
    settled: int
    at: float
    walked_at: float


class Snapshots:
    """Snapshots in one table."""

    def __init__(self, client: DynamoDBClient, table: str, batches: Batches) -> None:
        self._client = client
        self._table = table
        self._batches = batches

    def read(
        self, principal: Principal, selection: Selection, now: float
    ) -> tuple[Counter | None, Snapshot | None]:
        """Return the user's counter, and the snapshot of the listing if there is a usable one."""
        wanted = [counter_key(principal.user_id), _key(principal, selection)]
        # Both consistently: an older counter may be of an epoch that is over.
        items = self._batches.items(wanted, _READ)
        found = {item["sk"]["S"]: item for item in items}
        if keys.COUNTER not in found:
            return None, None
        counter = found.pop(keys.COUNTER)
        usable = (
            _snapshot_of(item)
            for item in found.values()
            if item.get("epoch") == counter.get("epoch")
            and now - LIFETIME < float(item["walked_at"]["N"]) < now + MARGIN
        )
        return counter_of(counter), next(usable, None)

    def store(
        self, principal: Principal, selection: Selection, snapshot: Snapshot, epoch: str | None
    ) -> None:
        """Store a snapshot of the listing, unless it is too large for an item.

        ``epoch`` is the one that the counter had before the first of its memories was read.
        """
        ids = _packed(snapshot.ids)
        if len(ids) > _MOST:
            return
        item = _key(principal, selection) | {
            "ids": {"B": ids},
            "settled": {"N": str(snapshot.settled)},
            "at": {"N": repr(snapshot.at)},
            "walked_at": {"N": repr(snapshot.walked_at)},
            "expires_at": {"N": str(int(snapshot.walked_at) + LIFETIME)},
        }
        if epoch is not None:
            item["epoch"] = {"S": epoch}
        with failures_sorted():
            self._client.put_item(TableName=self._table, Item=item)


def _key(principal: Principal, selection: Selection) -> Item:
    """Return the key of the snapshot, with a digest in it, for agents and tags may be long."""
    listing = [principal.agent_id, selection.status, selection.memory_type, selection.tag]
    digest = sha256(json.dumps(listing).encode()).hexdigest()[:32]
    return key_of(principal.user_id, f"{keys.SNAPSHOT_PREFIX}{digest}")


def _snapshot_of(item: Item) -> Snapshot:
    return Snapshot(
        ids=_unpacked(item["ids"]["B"]),
        settled=int(item["settled"]["N"]),
        at=float(item["at"]["N"]),
        walked_at=float(item["walked_at"]["N"]),
    )


def _packed(ids: Iterable[int]) -> bytes:
    """Return ids in order as bytes: each by how far it is from the one before, compressed.

    The first byte names the size of the distances. Of many ids they fit into one byte each.
    """
    distances = [after - before for before, after in pairwise([0, *ids])]
    code = "B" if max(distances, default=0) < 256 else "Q"
    return code.encode() + zlib.compress(array(code, distances).tobytes())


def _unpacked(packed: bytes) -> list[int]:
    distances = array(packed[:1].decode())
    distances.frombytes(zlib.decompress(packed[1:]))
    return list(accumulate(distances))

"""Whole records out of the DynamoDB store, and into it.

No two placings of one arrival, at once or one after a failed other, store it twice: it has its own
id, or one that its origin has claimed, and is stored under that if nothing is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from memories.errors import StoreUnavailable
from memories.principal import Principal
from memories.stores.dynamodb import keys, stamps
from memories.stores.dynamodb.batches import Batches
from memories.stores.dynamodb.counters import Counters
from memories.stores.dynamodb.expressions import (
    IS_ABSENT,
    memories_after,
    names_in,
    readable_by,
)
from memories.stores.dynamodb.failures import ConditionNotMet, failures_sorted
from memories.stores.dynamodb.items import Item, item_of, key, key_of, record_of
from memories.stores.dynamodb.queries import Queries
from memories.stores.dynamodb.stamps import Wall
from memories.stores.dynamodb.tokens import WRITE, is_own, new_token
from memories.stores.port_transfer import MAX_KEPT_ID, Arrival, Part, Placed, highest_kept, is_same

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# BatchGetItem takes a hundred keys, and an arrival has two.
_GROUP = 50


class _Found(NamedTuple):
    """What the table has of some arrivals: memories' items by id, and ids by origin."""

    memories: Mapping[int, Item]
    claims: Mapping[str, int]


class DynamoDBTransfer:
    """Transfers over one table."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        counters: Counters,
        workers: Executor,
        *,
        queries: Queries,
        batches: Batches,
        wall: Wall,
    ) -> None:
        self._client = client
        self._table = table
        self._counters = counters
        self._queries = queries
        self._batches = batches
        self._wall = wall
        self._workers = workers

    def read(self, principal: Principal, after: int, limit: int) -> Part:
        answer = self._queries.answer(
            memories_after(principal.user_id, after),
            wanted=readable_by(principal.agent_id),
            ConsistentRead=True,
            Limit=limit,
        )
        last = answer.get("LastEvaluatedKey")
        return Part(
            [record_of(item) for item in answer["Items"]],
            keys.id_in(last["sk"]["S"]) if last else None,
        )

    def place(self, principal: Principal, arrivals: Sequence[Arrival], at: str) -> list[Placed]:
        del at  # no item of the user's is begun here that would say since when it is
        self._counters.raise_to(principal.user_id, highest_kept(arrivals))
        placed: list[Placed] = []
        for start in range(0, len(arrivals), _GROUP):
            placed += self._place_group(principal.user_id, arrivals[start : start + _GROUP])
        return placed

    def _place_group(self, user_id: str, arrivals: Sequence[Arrival]) -> list[Placed]:
        found = self._find(user_id, arrivals)
        claimed = self._claim(user_id, arrivals, found)
        put = partial(self._put, user_id, found, claimed)
        return list(self._workers.map(put, arrivals))

    def _find(self, user_id: str, arrivals: Sequence[Arrival]) -> _Found:
        wanted = [key(user_id, each.record.id) for each in arrivals if each.record.id]
        wanted += [_claim_key(user_id, each.origin) for each in arrivals]
        items = self._batches.items(wanted)
        claims = {
            keys.origin_in(item["sk"]["S"]): int(item["id"]["N"])
            for item in items
            if "content" not in item
        }
        if claims:
            items += self._batches.items([key(user_id, memory_id) for memory_id in claims.values()])
        memories = {int(item["id"]["N"]): item for item in items if "content" in item}
        return _Found(memories, claims)

    def _claim(self, user_id: str, arrivals: Sequence[Arrival], found: _Found) -> Mapping[str, int]:
        """Return the ids of those arrivals that do not have the one they came with."""
        claims = dict(found.claims)
        new = [each for each in arrivals if each.origin not in claims and _is_taken(each, found)]
        if new:
            first_id = self._counters.reserve(user_id, len(new))
            ids = range(first_id, first_id + len(new))
            claim = partial(self._put_claim, user_id)
            claims |= zip(
                (each.origin for each in new), self._workers.map(claim, new, ids), strict=True
            )
        return claims

    def _put_claim(self, user_id: str, arrival: Arrival, memory_id: int) -> int:
        """Claim the id for the origin, and return the one that it then has."""
        item = _claim_key(user_id, arrival.origin) | {"id": {"N": str(memory_id)}}
        try:
            self._put_new(item)
        except ConditionNotMet as refused:
            # Of two at once, or of two attempts of this call, the first has claimed.
            return int(refused.item["id"]["N"])
        return memory_id

    def _put(
        self, user_id: str, found: _Found, claimed: Mapping[str, int], arrival: Arrival
    ) -> Placed:
        memory_id = claimed.get(arrival.origin, arrival.record.id)
        if memory_id in found.memories and _is_at(found.memories[memory_id], arrival):
            return Placed(memory_id, is_new=False)
        now = self._wall()
        # It may have its id from long ago, so it is to be found as what is changed is.
        written = stamps.created(now) | stamps.changed(memory_id, now) | new_token(WRITE)
        item = item_of(user_id, arrival.record._replace(id=memory_id)) | written
        if arrival.origin in claimed:
            item |= {"origin": {"S": arrival.origin}}
        try:
            self._put_new(item)
        except ConditionNotMet as refused:
            if is_own(refused.item, item):
                return Placed(memory_id, is_new=True)
            if _is_at(refused.item, arrival):
                return Placed(memory_id, is_new=False)
            # Another's memory got the id since it was looked at: the next try finds it taken.
            raise StoreUnavailable from refused
        return Placed(memory_id, is_new=True)

    def _put_new(self, item: Item) -> None:
        """Put an item where there is none. Raises ConditionNotMet."""
        with failures_sorted():
            self._client.put_item(
                TableName=self._table,
                Item=item,
                ConditionExpression=IS_ABSENT.text,
                ExpressionAttributeNames=names_in(IS_ABSENT.text),
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )


def _is_taken(arrival: Arrival, found: _Found) -> bool:
    wanted = arrival.record.id
    holder = found.memories.get(wanted)
    return not 1 <= wanted <= MAX_KEPT_ID or (holder is not None and not _is_at(holder, arrival))


def _is_at(item: Item, arrival: Arrival) -> bool:
    origin = item["origin"]["S"] if "origin" in item else None
    return is_same(record_of(item), origin, arrival)


def _claim_key(user_id: str, origin: str) -> Item:
    return key_of(user_id, keys.origin(origin))

"""The counter of a user: the ids that were given, and the epoch, which an erasure ends."""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from memories.stores.dynamodb import keys
from memories.stores.dynamodb.expressions import IS_THERE, Condition, counted_less, names_in
from memories.stores.dynamodb.failures import ConditionNotMet, failures_sorted
from memories.stores.dynamodb.items import Item, key_of
from memories.stores.dynamodb.stamps import MARGIN, Wall

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# A counter has an epoch from its beginning: so one that takes the place of another, after all of
# the user's was erased, is told from it.
_BEGIN = "#epoch = if_not_exists(#epoch, :epoch)"
_RESERVE = f"ADD #last_id :count SET {_BEGIN}"
_RAISE = f"SET #last_id = :last, {_BEGIN}"
_END_EPOCH = "SET #epoch = :epoch, #erased_at = :erased_at"

# Enough that no two of a user are the same.
_EPOCH_BYTES = 9


class Counter(NamedTuple):
    """The last id given, the epoch, and when it began if by an erasure, by the host's clock."""

    last_id: int
    epoch: str | None
    erased_at: float | None

    def is_quiet(self, now: float) -> bool:
        """Say whether what was erased has left the indexes too."""
        return self.erased_at is None or self.erased_at < now - MARGIN


class Counters:
    """The counters of one table."""

    def __init__(self, client: DynamoDBClient, table: str, wall: Wall) -> None:
        self._client = client
        self._table = table
        self._wall = wall

    def reserve(self, user_id: str, count: int) -> int:
        """Return the first of ``count`` ids. An answer that is lost leaves a gap, no more."""
        answer = self._change(user_id, _RESERVE, {":count": {"N": str(count)}, **_new_epoch()})
        return int(answer["last_id"]["N"]) - count + 1

    def raise_to(self, user_id: str, memory_id: int) -> None:
        """Have the counter give only higher ids than this."""
        condition = counted_less(memory_id)
        # Else it is further already.
        with suppress(ConditionNotMet):
            self._change(user_id, _RAISE, condition.values | _new_epoch(), condition)

    def end_epoch(self, user_id: str) -> None:
        """Be told that memories are about to be erased, in the next minutes.

        Nothing that is kept of the user's listings counts from then on, and for a while nothing is
        kept.
        """
        values = {":erased_at": {"N": repr(self._wall())}, **_new_epoch()}
        # Who has no counter has no memories, and shall not get a counter by this.
        with suppress(ConditionNotMet):
            self._change(user_id, _END_EPOCH, values, IS_THERE)

    def read(self, user_id: str) -> Counter | None:
        """Return the counter as it is, if there is one."""
        with failures_sorted():
            answer = self._client.get_item(
                TableName=self._table, Key=counter_key(user_id), ConsistentRead=True
            )
        return counter_of(answer["Item"]) if "Item" in answer else None

    def _change(
        self, user_id: str, change: str, values: Item, condition: Condition | None = None
    ) -> Item:
        """Return the new values of a change. Raises ConditionNotMet."""
        conditional = {} if condition is None else {"ConditionExpression": condition.text}
        with failures_sorted():
            answer = self._client.update_item(
                TableName=self._table,
                Key=counter_key(user_id),
                UpdateExpression=change,
                ExpressionAttributeNames=names_in(change, *conditional.values()),
                ExpressionAttributeValues=values,
                ReturnValues="UPDATED_NEW",
                **conditional,  # type: ignore[arg-type]  # one parameter or none
            )
        return answer["Attributes"]


def counter_key(user_id: str) -> Item:
    return key_of(user_id, keys.COUNTER)


def counter_of(item: Item) -> Counter:
    return Counter(
        last_id=int(item["last_id"]["N"]),
        epoch=item["epoch"]["S"] if "epoch" in item else None,
        erased_at=float(item["erased_at"]["N"]) if "erased_at" in item else None,
    )


def _new_epoch() -> Item:
    return {":epoch": {"S": secrets.token_urlsafe(_EPOCH_BYTES)}}

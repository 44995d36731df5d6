"""Maintenance of the DynamoDB store.

Users are found by a scan of the leanest index, which holds memories alone, each user's one after
another: some 0.03 read units a memory. The memories of a user that a policy may be for are found by
the indexes, and looked at in the table, which does not lag behind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memories.stores.dynamodb import keys, stamps
from memories.stores.dynamodb.batches import Batches
from memories.stores.dynamodb.counters import Counters
from memories.stores.dynamodb.expressions import (
    NOT_DELETED,
    Condition,
    as_found,
    in_status,
    indexed_of,
    last_accessed_until,
    listed,
    memories_of,
)
from memories.stores.dynamodb.failures import ConditionNotMet, Pause, failures_sorted
from memories.stores.dynamodb.items import Item, attributes, key, key_in
from memories.stores.dynamodb.queries import Queries
from memories.stores.dynamodb.removal import Removal
from memories.stores.dynamodb.stamps import Wall
from memories.stores.dynamodb.updates import Updates
from memories.stores.port_maintenance import Candidate

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_INDEX = "by_last_accessed_at"
_KEY = key_in("LIFECYCLE", "PLACE")
_LOOKED_AT = listed(["pk", *(name for name in Candidate._fields if name != "user_id")])


class DynamoDBMaintenance:
    """Maintenance of one table. A place is the key in the index that a scan goes on after."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        pause: Pause,
        *,
        queries: Queries,
        batches: Batches,
        updates: Updates,
        counters: Counters,
        wall: Wall,
    ) -> None:
        self._client = client
        self._table = table
        self._queries = queries
        self._batches = batches
        self._updates = updates
        self._counters = counters
        self._wall = wall
        self._removal = Removal(client, table, pause, queries)

    def place(self) -> str | None:
        with failures_sorted():
            found = self._client.get_item(TableName=self._table, Key=_KEY, ConsistentRead=True)
        return found["Item"]["place"]["S"] if "Item" in found else None

    def keep_place(self, place: str | None) -> None:
        with failures_sorted():
            if place is None:
                self._client.delete_item(TableName=self._table, Key=_KEY)
            else:
                kept: Any = _KEY | attributes({"place": place})
                self._client.put_item(TableName=self._table, Item=kept)

    def users(self, place: str | None) -> tuple[list[str], str | None]:
        start: Any = {"ExclusiveStartKey": json.loads(place)} if place else {}
        with failures_sorted():
            answer = self._client.scan(
                TableName=self._table,
                IndexName=_INDEX,
                ProjectionExpression="#pk",
                ExpressionAttributeNames={"#pk": "pk"},
                **start,
            )
        # A user whose memories the scan was in the middle of was among those before the place.
        known = {start["ExclusiveStartKey"]["pk"]["S"]} if start else set()
        partitions = dict.fromkeys(item["pk"]["S"] for item in answer["Items"])
        users = [keys.owner_in(each) for each in partitions if each not in known]
        last = answer.get("LastEvaluatedKey")
        return users, json.dumps(last, separators=(",", ":")) if last else None

    def deleted(self, user_id: str) -> Iterator[Candidate]:
        for memory in self._looked_at(user_id, indexed_of(user_id), in_status("deleted")):
            if memory.status == "deleted":
                yield memory

    def unused(self, user_id: str, since: str) -> Iterator[Candidate]:
        # What was changed or recorded since then was used too, and the index does not say so.
        for memory in self._looked_at(user_id, last_accessed_until(user_id, since), NOT_DELETED):
            if memory.status != "deleted" and memory.used_at <= since:
                yield memory

    def may_exceed(self, user_id: str, most: int) -> bool:
        counted = self._queries.answers(
            indexed_of(user_id), wanted=NOT_DELETED, IndexName=_INDEX, Select="COUNT"
        )
        count: int = sum(answer["Count"] for answer in counted)
        return count > most

    def kept(self, user_id: str) -> Iterator[Candidate]:
        answers = self._queries.answers(
            memories_of(user_id), _LOOKED_AT, NOT_DELETED, ConsistentRead=True
        )
        for answer in answers:
            yield from map(_candidate_of, answer["Items"])

    def date_deletion(self, memory: Candidate, at: str) -> None:
        self._changed(memory, {"deleted_at": at})

    def remove(self, memory: Candidate) -> bool:
        self._counters.end_epoch(memory.user_id)
        return self._removal.remove(memory)

    def decay(self, memory: Candidate, at: str) -> bool:
        return self._changed(memory, {"importance": memory.importance - 1, "decayed_at": at})

    def retire(self, memory: Candidate, at: str) -> bool:
        return self._changed(memory, {"status": "deleted", "deleted_at": at})

    def _changed(self, memory: Candidate, changes: Mapping[str, Any]) -> bool:
        values = attributes(changes)
        values |= stamps.changed_by(values, memory.id, self._wall())
        try:
            self._updates.once(key(memory.user_id, memory.id), values, as_found(memory))
        except ConditionNotMet as refused:
            # An earlier attempt may have done it, its answer lost: then the item has its time.
            return refused.retried and all(
                refused.item.get(name) == values[name] for name in values
            )
        return True

    def _looked_at(self, user_id: str, among: Condition, wanted: Condition) -> Iterator[Candidate]:
        """Yield what the index finds, as the table has it."""
        answers = self._queries.answers(among, listed(["accessed_sort"]), wanted, IndexName=_INDEX)
        for answer in answers:
            ids = [keys.id_in(item["accessed_sort"]["S"]) for item in answer["Items"]]
            found = self._batches.memories(user_id, ids, _LOOKED_AT)
            yield from (_candidate_of(found[each]) for each in ids if each in found)


def _candidate_of(item: Item) -> Candidate:
    def text(name: str) -> str | None:
        return item[name]["S"] if name in item else None

    return Candidate(
        user_id=keys.owner_in(item["pk"]["S"]),
        id=int(item["id"]["N"]),
        status=item["status"]["S"],
        importance=int(item["importance"]["N"]),
        updated_at=item["updated_at"]["S"],
        last_accessed_at=text("last_accessed_at"),
        deleted_at=text("deleted_at"),
        decayed_at=text("decayed_at"),
    )

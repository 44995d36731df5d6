"""Pages of the DynamoDB store: find, order, fetch and have marked as accessed.

An index lags behind its table for a moment. What was created is covered here: the newest memories
are read from the table itself. What was changed may for that moment be missing, or be counted,
under its new status, type, tags or grants; it is never shown where it no longer belongs.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from memories.fields import timestamp
from memories.principal import Principal
from memories.stores.dynamodb import keys
from memories.stores.dynamodb.batches import Batches
from memories.stores.dynamodb.expressions import (
    Condition,
    all_of,
    indexed_of,
    listed,
    memories_of,
    names_in,
    readable_by,
    selected,
)
from memories.stores.dynamodb.failures import failures_sorted
from memories.stores.dynamodb.items import (
    SORT_ATTRIBUTES,
    Grants,
    Item,
    is_readable,
    matches,
    record_of,
)
from memories.stores.dynamodb.marks import Marks, marked
from memories.stores.port import Fit, Record, Selection

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# What was created longer ago than this is in the indexes, which are behind by far less.
LAG = timedelta(seconds=10)

# How many of the newest memories are read from the table at first, in case the index lags.
NEWEST = 25

_INDEXES = {
    "id": "by_created_at",
    "created_at": "by_created_at",
    "updated_at": "by_updated_at",
    "last_accessed_at": "by_last_accessed_at",
}

# What matches() needs where there is no text to look for, and what any sort needs.
_SORTS = sorted(set(SORT_ATTRIBUTES.values()))
_LEAN = listed(["sk", "status", "memory_type", "tags", *Grants._fields, *_SORTS])
_WHOLE = listed([*Record._fields, *_SORTS])


class Pages:
    """Pages of one table."""

    def __init__(
        self, client: DynamoDBClient, table: str, workers: Executor, batches: Batches, marks: Marks
    ) -> None:
        self._client = client
        self._table = table
        self._workers = workers
        self._batches = batches
        self._marks = marks

    def page(
        self, principal: Principal, selection: Selection, accessed_at: str, fit: Fit
    ) -> tuple[list[Record], int]:
        """Return the page as Store.page does, but for the access counts as Marks has them."""
        ranked = self._ranked(principal, selection, accessed_at)
        chosen = _in_order(ranked, selection.sort)[selection.offset :][: selection.limit]
        if not chosen:
            return [], len(ranked)
        found = self._batches.memories(principal.user_id, chosen, _WHOLE)
        fresh = {
            memory_id: found[memory_id][SORT_ATTRIBUTES[selection.sort]]["S"]
            for memory_id in chosen
            if memory_id in found and matches(found[memory_id], selection, principal.agent_id)
        }
        records = [
            marked(record_of(found[memory_id]), accessed_at)
            for memory_id in _in_order(fresh, selection.sort)
        ]
        kept = records[: fit(records)]
        gone = self._marks.store(principal, kept)
        # A row that proved to be no match is no match in the count either. It is not replaced by
        # one of the next page, which would then come twice.
        total = len(ranked) - (len(chosen) - len(fresh)) - len(gone)
        return [record for record in kept if record.id not in gone], total

    def count(self, principal: Principal, selection: Selection, at: str) -> int:
        """Return the number of matches, as a page would have it."""
        return len(self._ranked(principal, selection, at))

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

    def _ranked(self, principal: Principal, selection: Selection, now: str) -> dict[int, str]:
        """Return the sort value of every match by its id."""
        user_id = principal.user_id
        wanted = all_of(selected(selection), readable_by(principal.agent_id))
        if selection.text is not None:
            # The text is not in the indexes; and the table itself does not lag.
            table: dict[str, Any] = {"ConsistentRead": True}
            return self._walk(table, memories_of(user_id), wanted, selection.sort)
        newest = self._workers.submit(self._newest, user_id, {})
        # Upwards, for a memory that is changed meanwhile moves up: it is met again, not missed.
        index: dict[str, Any] = {"IndexName": _INDEXES[selection.sort]}
        ranked = self._walk(index, indexed_of(user_id), wanted, selection.sort)
        self._overlay(principal, selection, ranked, newest.result(), _lag_before(now))
        return ranked

    def _walk(
        self, query: dict[str, Any], among: Condition, wanted: Condition, sort: str
    ) -> dict[int, str]:
        attribute = SORT_ATTRIBUTES[sort]
        only_sort = listed([attribute])
        query |= {
            "TableName": self._table,
            "KeyConditionExpression": among.text,
            "FilterExpression": wanted.text,
            "ProjectionExpression": only_sort,
            "ExpressionAttributeNames": names_in(among.text, wanted.text, only_sort),
            "ExpressionAttributeValues": among.values | wanted.values,
        }
        ranked = {}
        while True:
            with failures_sorted():
                answer = self._client.query(**query)
            for item in answer["Items"]:
                value = item[attribute]["S"]
                ranked[keys.id_in(value)] = value
            if "LastEvaluatedKey" not in answer:
                return ranked
            query["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _newest(self, user_id: str, start: Item) -> Item:
        """Return the answer with the newest memories, or those before the key ``start``."""
        among = memories_of(user_id)
        with failures_sorted():
            return dict(
                self._client.query(
                    TableName=self._table,
                    KeyConditionExpression=among.text,
                    ExpressionAttributeValues=among.values,
                    ProjectionExpression=_LEAN,
                    ExpressionAttributeNames=names_in(among.text, _LEAN),
                    ConsistentRead=True,
                    ScanIndexForward=False,
                    Limit=NEWEST,
                    **start,
                )
            )

    def _overlay(
        self,
        principal: Principal,
        selection: Selection,
        ranked: dict[int, str],
        newest: Item,
        lagging_since: str,
    ) -> None:
        """Correct ``ranked`` by the newest memories as they are in the table."""
        met = False
        while True:
            lags = False
            for item in newest["Items"]:
                memory_id = keys.id_in(item["sk"]["S"])
                indexed = ranked.pop(memory_id, None)
                if matches(item, selection, principal.agent_id):
                    met, lags = True, indexed is None
                    ranked[memory_id] = item[SORT_ATTRIBUTES[selection.sort]]["S"]
            # The oldest match read was not in the index: the one before it may not be either. Of
            # memories that are no match, only their age tells whether the index has them.
            recent = newest["Items"] and newest["Items"][-1]["created_sort"]["S"] > lagging_since
            if not (lags or (recent and not met)) or "LastEvaluatedKey" not in newest:
                return
            newest = self._newest(
                principal.user_id, {"ExclusiveStartKey": newest["LastEvaluatedKey"]}
            )


def _lag_before(now: str) -> str:
    return timestamp(datetime.fromisoformat(now) - LAG)


def _in_order(ranked: dict[int, str], sort: str) -> list[int]:
    if sort == "id":
        return sorted(ranked)
    return sorted(ranked, key=ranked.__getitem__, reverse=True)

"""Pages of the DynamoDB store: find, order, fetch and mark as accessed.

An index lags behind its table for a moment. What was created is covered here: the newest memories
are read from the table itself. What was changed may for that moment be missing, or be counted,
under its new status, type or tags; it is never shown where it no longer belongs.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from memories.errors import StoreUnavailable
from memories.stores import keys
from memories.stores.dynamodb_expressions import (
    INDEXED_OF,
    MEMORIES_OF,
    indexed_of,
    listed,
    memories_of,
    names_in,
    selected,
)
from memories.stores.dynamodb_failures import MAX_TRIES, Pause, failures_sorted
from memories.stores.items import (
    SORT_ATTRIBUTES,
    Item,
    attributes,
    key,
    matches,
    record_of,
)
from memories.stores.port import Fit, Record, Selection

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# Threads for the calls of a page that can be made side by side: at most the four refreshes of a
# page of 100, of two pages at once.
WORKERS = 8

# How many of the newest memories are read from the table at first, in case the index lags.
NEWEST = 25

# BatchExecuteStatement takes no more.
_STATEMENTS = 25

_INDEXES = {
    "id": "by_created_at",
    "created_at": "by_created_at",
    "updated_at": "by_updated_at",
    "last_accessed_at": "by_last_accessed_at",
}

# What matches() needs where there is no text to look for, and what any sort needs.
_LEAN = listed(["sk", "status", "memory_type", "tags", *sorted(set(SORT_ATTRIBUTES.values()))])
_WHOLE = listed([*Record._fields, *sorted(set(SORT_ATTRIBUTES.values()))])


class Pages:
    """Pages of one table. Owns the threads for calls that are made side by side."""

    def __init__(self, client: DynamoDBClient, table: str, pause: Pause) -> None:
        self._client = client
        self._table = table
        self._pause = pause
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="dynamodb")

    def page(
        self, user_id: str, selection: Selection, accessed_at: str, fit: Fit
    ) -> tuple[list[Record], int]:
        """Return the page as Store.page does."""
        ranked = self._ranked(user_id, selection)
        chosen = _in_order(ranked, selection.sort)[selection.offset :][: selection.limit]
        if not chosen:
            return [], len(ranked)
        found = self._fetch(user_id, chosen)
        fresh = {
            memory_id: found[memory_id][SORT_ATTRIBUTES[selection.sort]]["S"]
            for memory_id in chosen
            if memory_id in found and matches(found[memory_id], selection)
        }
        records = [
            record_of(found[memory_id])._replace(last_accessed_at=accessed_at)
            for memory_id in _in_order(fresh, selection.sort)
        ]
        kept = records[: fit(records)]
        gone = self._mark(user_id, [record.id for record in kept], accessed_at)
        # A row that proved to be no match is no match in the count either. It is not replaced by
        # one of the next page, which would then come twice.
        total = len(ranked) - (len(chosen) - len(fresh)) - len(gone)
        return [record for record in kept if record.id not in gone], total

    def close(self) -> None:
        self._workers.shutdown()

    def _ranked(self, user_id: str, selection: Selection) -> dict[int, str]:
        """Return the sort value of every match by its id."""
        if selection.text is not None:
            # The text is not in the indexes; and the table itself does not lag.
            return self._walk(
                selection,
                {
                    "KeyConditionExpression": MEMORIES_OF,
                    "ExpressionAttributeValues": memories_of(user_id),
                    "ConsistentRead": True,
                },
            )
        newest = self._workers.submit(self._newest, user_id, {})
        # Upwards, for a memory that is changed meanwhile moves up: it is met again, not missed.
        ranked = self._walk(
            selection,
            {
                "IndexName": _INDEXES[selection.sort],
                "KeyConditionExpression": INDEXED_OF,
                "ExpressionAttributeValues": indexed_of(user_id),
            },
        )
        self._overlay(user_id, selection, ranked, newest.result())
        return ranked

    def _walk(self, selection: Selection, query: dict[str, Any]) -> dict[int, str]:
        condition, values = selected(selection)
        attribute = SORT_ATTRIBUTES[selection.sort]
        only_sort = listed([attribute])
        query |= {
            "TableName": self._table,
            "FilterExpression": condition,
            "ProjectionExpression": only_sort,
            "ExpressionAttributeNames": names_in(
                query["KeyConditionExpression"], condition, only_sort
            ),
            "ExpressionAttributeValues": query["ExpressionAttributeValues"] | values,
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
        with failures_sorted():
            return dict(
                self._client.query(
                    TableName=self._table,
                    KeyConditionExpression=MEMORIES_OF,
                    ExpressionAttributeValues=memories_of(user_id),
                    ProjectionExpression=_LEAN,
                    ExpressionAttributeNames=names_in(MEMORIES_OF, _LEAN),
                    ConsistentRead=True,
                    ScanIndexForward=False,
                    Limit=NEWEST,
                    **start,
                )
            )

    def _overlay(
        self, user_id: str, selection: Selection, ranked: dict[int, str], newest: Item
    ) -> None:
        """Correct ``ranked`` by the newest memories as they are in the table."""
        while True:
            lags = False
            for item in newest["Items"]:
                memory_id = keys.id_in(item["sk"]["S"])
                indexed = ranked.pop(memory_id, None)
                if matches(item, selection):
                    lags = indexed is None
                    ranked[memory_id] = item[SORT_ATTRIBUTES[selection.sort]]["S"]
            # The oldest match read was not in the index: the one before it may not be either.
            if not lags or "LastEvaluatedKey" not in newest:
                return
            newest = self._newest(user_id, {"ExclusiveStartKey": newest["LastEvaluatedKey"]})

    def _fetch(self, user_id: str, ids: Sequence[int]) -> dict[int, Item]:
        """Return the items that there are, by id, as last written."""
        wanted: Any = {
            self._table: {
                "Keys": [key(user_id, memory_id) for memory_id in ids],
                "ConsistentRead": True,
                "ProjectionExpression": _WHOLE,
                "ExpressionAttributeNames": names_in(_WHOLE),
            }
        }
        found = {}
        for tries in range(1, MAX_TRIES + 1):
            with failures_sorted():
                answer = self._client.batch_get_item(RequestItems=wanted)
            for item in answer["Responses"].get(self._table, []):
                found[int(item["id"]["N"])] = item
            wanted = answer.get("UnprocessedKeys")
            if not wanted:
                return found
            self._pause(tries)
        raise StoreUnavailable

    def _mark(self, user_id: str, ids: Sequence[int], accessed_at: str) -> set[int]:
        """Set the access time of each, and return those that are no longer there."""
        groups = [ids[start : start + _STATEMENTS] for start in range(0, len(ids), _STATEMENTS)]
        mark = partial(self._mark_group, user_id, accessed_at)
        # One group, as a usual page has, needs no other thread.
        gone = self._workers.map(mark, groups) if len(groups) > 1 else map(mark, groups)
        return set(chain.from_iterable(gone))

    def _mark_group(self, user_id: str, accessed_at: str, ids: Sequence[int]) -> list[int]:
        gone: list[int] = []
        pending = list(ids)
        for tries in range(1, MAX_TRIES + 1):
            with failures_sorted():
                answers = self._client.batch_execute_statement(
                    Statements=[self._marking(user_id, accessed_at, each) for each in pending]
                )["Responses"]
            errors = {
                memory_id: answer["Error"].get("Code")
                for memory_id, answer in zip(pending, answers, strict=True)
                if "Error" in answer
            }
            # An UPDATE does not create: the memory was erased since it was fetched.
            gone += [each for each, code in errors.items() if code == "ConditionalCheckFailed"]
            pending = [each for each in errors if each not in gone]
            if not pending:
                return gone
            self._pause(tries)
        raise StoreUnavailable

    def _marking(self, user_id: str, accessed_at: str, memory_id: int) -> Any:
        sort = keys.moment(accessed_at, memory_id)
        values = attributes({"at": accessed_at, "sort": sort}) | key(user_id, memory_id)
        return {
            "Statement": f'UPDATE "{self._table}" SET last_accessed_at=?, accessed_sort=? '
            "WHERE pk=? AND sk=?",
            "Parameters": [values[name] for name in ("at", "sort", "pk", "sk")],
        }


def _in_order(ranked: dict[int, str], sort: str) -> list[int]:
    if sort == "id":
        return sorted(ranked)
    return sorted(ranked, key=ranked.__getitem__, reverse=True)

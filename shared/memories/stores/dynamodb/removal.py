"""Removal of a memory for good, with all that there is of it.

The memory goes last, and on condition that it is as it was found. A removal that breaks off leaves
it there, deleted as it was, and is repeated whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memories.errors import StoreUnavailable
from memories.stores.dynamodb import keys
from memories.stores.dynamodb.expressions import (
    Condition,
    as_found,
    listed,
    logged_of,
    names_in,
    related_to,
)
from memories.stores.dynamodb.failures import MAX_TRIES, ConditionNotMet, Pause, failures_sorted
from memories.stores.dynamodb.items import Item, key, key_in
from memories.stores.dynamodb.queries import Queries
from memories.stores.port_maintenance import Candidate

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# BatchWriteItem takes no more.
_DELETIONS = 25


class Removal:
    """Removals from one table."""

    def __init__(self, client: DynamoDBClient, table: str, pause: Pause, queries: Queries) -> None:
        self._client = client
        self._table = table
        self._pause = pause
        self._queries = queries

    def remove(self, memory: Candidate) -> bool:
        """Remove a deleted memory if it is as found, and return whether it was."""
        # A deleted memory gains no relation, and after a day of being deleted no entry of the log:
        # the stream that they are written from is no longer. So what is found here is all.
        partition = keys.partition(memory.user_id)
        for found in self._relations(memory):
            # Their other halves first: by those found here alone are they found again.
            self._delete([key_in(partition, keys.twin(each)) for each in found])
            self._delete([key_in(partition, each) for each in found])
        log = keys.log(memory.user_id, memory.id)
        for found in self._found(logged_of(memory.user_id, memory.id)):
            self._delete([key_in(log, each) for each in found])
        if origin := self._origin(memory):
            self._delete([key_in(partition, keys.origin(origin))])
        condition = as_found(memory)
        try:
            with failures_sorted():
                self._client.delete_item(
                    TableName=self._table,
                    Key=key(memory.user_id, memory.id),
                    ConditionExpression=condition.text,
                    ExpressionAttributeNames=names_in(condition.text),
                    ExpressionAttributeValues=condition.values,
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except ConditionNotMet as refused:
            # An earlier attempt may have removed it, its answer lost.
            return refused.retried and not refused.item
        return True

    def _origin(self, memory: Candidate) -> str | None:
        """Return what is known of where it came from, if that is kept."""
        with failures_sorted():
            answer = self._client.get_item(
                TableName=self._table,
                Key=key(memory.user_id, memory.id),
                ProjectionExpression="#origin",
                ExpressionAttributeNames=names_in("#origin"),
                ConsistentRead=True,
            )
        found: Item = answer.get("Item", {})
        return found["origin"]["S"] if "origin" in found else None

    def _relations(self, memory: Candidate) -> Iterator[list[str]]:
        """Yield the sort keys of its relations, and of the mirrors of those that lead to it."""
        for prefix in (keys.RELATION_PREFIX, keys.MIRROR_PREFIX):
            of_memory = keys.relations_of(prefix, memory.id, None)
            yield from self._found(related_to(memory.user_id, of_memory))

    def _found(self, among: Condition) -> Iterator[list[str]]:
        """Yield the sort keys of what is there, as many at once as are deleted at once."""
        query = self._queries.answers(among, listed(["sk"]), ConsistentRead=True, Limit=_DELETIONS)
        for answer in query:
            if answer["Items"]:
                yield [item["sk"]["S"] for item in answer["Items"]]

    def _delete(self, items: Sequence[Item]) -> None:
        pending: Any = {self._table: [{"DeleteRequest": {"Key": item}} for item in items]}
        for tries in range(1, MAX_TRIES + 1):
            with failures_sorted():
                pending = self._client.batch_write_item(RequestItems=pending)["UnprocessedItems"]
            if not pending:
                return
            self._pause(tries)
        raise StoreUnavailable

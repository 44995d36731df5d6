"""The access log in the DynamoDB store, which the table's stream is turned into.

Each memory's log is a partition of its own, so that its length slows down nothing else. Entries
expire by the table's time to live.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from memories.stores.dynamodb import keys
from memories.stores.dynamodb.changes import Logged
from memories.stores.dynamodb.expressions import Condition, all_of, listed, logged_of
from memories.stores.dynamodb.failures import failures_sorted
from memories.stores.dynamodb.items import attributes, key
from memories.stores.dynamodb.queries import Queries
from memories.stores.port_log import Access

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# Sorts after every entry of the moment.
_LAST = "~"


class DynamoDBLog:
    """The logs in one table."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    def page(
        self, user_id: str, memory_id: int, since: str, limit: int, offset: int
    ) -> tuple[list[Access], int]:
        later = Condition("#sk > :since", {":since": {"S": since + _LAST}})
        answers = self._queries.answers(
            all_of(logged_of(user_id, memory_id), later),
            listed(Access._fields),
            ScanIndexForward=False,
            ConsistentRead=True,
        )
        page: list[Access] = []
        total = 0
        for answer in answers:
            wanted = slice(max(offset - total, 0), max(offset + limit - total, 0))
            page += [
                Access(**{name: item[name]["S"] for name in Access._fields})
                for item in answer["Items"][wanted]
            ]
            total += len(answer["Items"])
        return page, total


class LogWriter:
    """Writes what the stream tells into the logs of a table."""

    def __init__(self, client: DynamoDBClient, table: str, days: int) -> None:
        """``days`` is how long entries are kept."""
        self._client = client
        self._table = table
        self._kept = timedelta(days=days)

    def write(self, logged: Logged, event_id: str) -> None:
        """Write one entry. The same access of the same event is the same entry.

        The memory may be erased meanwhile, and its log must not outlive it. So it is looked for
        after the entry was written: whoever erases a memory and then its log finds the entry, or
        the memory is not found here. A check in one transaction with the entry would do too, but
        would make a person's own write of the memory fail that came at the same moment.
        """
        access = logged.access
        item = attributes(
            {
                "pk": keys.log(logged.user_id, logged.memory_id),
                "sk": f"{access.accessed_at}#{event_id}#{access.access_type}",
                "expires_at": self._expiry(access.accessed_at),
                **access._asdict(),
            }
        )
        with failures_sorted():
            self._client.put_item(TableName=self._table, Item=item)
            found = self._client.get_item(
                TableName=self._table,
                Key=key(logged.user_id, logged.memory_id),
                ProjectionExpression="pk",
                ConsistentRead=True,
            )
            if "Item" not in found:
                entry: Any = {name: item[name] for name in ("pk", "sk")}
                self._client.delete_item(TableName=self._table, Key=entry)

    def _expiry(self, at: str) -> int:
        """Return when to forget, in seconds since 1970, as the time to live has it."""
        return int((datetime.fromisoformat(at) + self._kept).timestamp())

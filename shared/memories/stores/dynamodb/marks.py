"""Marks of the DynamoDB store: that memories of a page were accessed, and when."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from memories.errors import StoreUnavailable
from memories.principal import Principal
from memories.stores.dynamodb import keys
from memories.stores.dynamodb.failures import MAX_TRIES, Pause, failures_sorted
from memories.stores.dynamodb.items import attributes, key
from memories.stores.port import Record

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# BatchExecuteStatement takes no more.
_STATEMENTS = 25


def marked(record: Record, at: str) -> Record:
    """Return the record as it is once this access of it is stored."""
    return record._replace(last_accessed_at=at, access_count=record.access_count + 1)


class Marks:
    """Marks in one table.

    An access count is set, not added to: to the count just read and one. So a mark that is made
    twice, its answer lost, counts once; but where two readings of a memory meet, and one of them
    is a page's, one of them may not be counted.
    """

    def __init__(self, client: DynamoDBClient, table: str, pause: Pause, workers: Executor) -> None:
        self._client = client
        self._table = table
        self._pause = pause
        self._workers = workers

    def store(self, principal: Principal, records: Sequence[Record]) -> set[int]:
        """Store the marks of marked records, and return the ids that are no longer there."""
        groups = [
            records[start : start + _STATEMENTS] for start in range(0, len(records), _STATEMENTS)
        ]
        store = partial(self._store_group, principal)
        # One group, as a usual page has, needs no other thread.
        gone = self._workers.map(store, groups) if len(groups) > 1 else map(store, groups)
        return set(chain.from_iterable(gone))

    def _store_group(self, principal: Principal, records: Sequence[Record]) -> list[int]:
        gone: list[int] = []
        pending = list(records)
        for tries in range(1, MAX_TRIES + 1):
            with failures_sorted():
                answers = self._client.batch_execute_statement(
                    Statements=[self._statement(principal, each) for each in pending]
                )["Responses"]
            failed = [
                (record, answer["Error"].get("Code"))
                for record, answer in zip(pending, answers, strict=True)
                if "Error" in answer
            ]
            # An UPDATE does not create: the memory was erased since it was fetched.
            gone += [record.id for record, code in failed if code == "ConditionalCheckFailed"]
            pending = [record for record, code in failed if code != "ConditionalCheckFailed"]
            if not pending:
                return gone
            self._pause(tries)
        raise StoreUnavailable

    def _statement(self, principal: Principal, record: Record) -> Any:
        accessed = attributes(
            {
                "last_accessed_at": record.last_accessed_at,
                "accessed_sort": keys.moment(record.last_accessed_at, record.id),
                "access_count": record.access_count,
                "accessed_by": principal.agent_id,
            }
        )
        return {
            "Statement": f'UPDATE "{self._table}" SET last_accessed_at=?, accessed_sort=?, '
            "access_count=?, accessed_by=? WHERE pk=? AND sk=?",
            "Parameters": [*accessed.values(), *key(principal.user_id, record.id).values()],
        }

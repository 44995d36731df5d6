"""The store over one DynamoDB table, which template.yaml defines."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memories.errors import StoreUnavailable
from memories.grants import may_read
from memories.principal import Principal
from memories.stores.dynamodb import keys, stamps
from memories.stores.dynamodb.accounts import DynamoDBAccounts
from memories.stores.dynamodb.batches import Batches
from memories.stores.dynamodb.counters import Counters
from memories.stores.dynamodb.counting import Counting
from memories.stores.dynamodb.creation import Creation
from memories.stores.dynamodb.erasure import DynamoDBErasure
from memories.stores.dynamodb.expressions import (
    NOT_DELETED,
    Condition,
    all_of,
    at_version,
    changeable_by,
    made_by,
    not_counted,
    readable_by,
)
from memories.stores.dynamodb.failures import ConditionNotMet, Pause, failures_sorted, pause
from memories.stores.dynamodb.items import Item, attributes, key, key_in, record_of
from memories.stores.dynamodb.log import DynamoDBLog
from memories.stores.dynamodb.maintenance import DynamoDBMaintenance
from memories.stores.dynamodb.marks import Marks
from memories.stores.dynamodb.matching import FIRST_LOOK, Matching
from memories.stores.dynamodb.newest import Newest
from memories.stores.dynamodb.ordering import Ordering
from memories.stores.dynamodb.pages import Pages
from memories.stores.dynamodb.queries import Queries
from memories.stores.dynamodb.relations import DynamoDBRelations
from memories.stores.dynamodb.snapshots import Snapshots
from memories.stores.dynamodb.stamps import Wall
from memories.stores.dynamodb.tags import DynamoDBTags
from memories.stores.dynamodb.tokens import READ, WRITE, new_token
from memories.stores.dynamodb.transfer import DynamoDBTransfer
from memories.stores.dynamodb.updates import Updates
from memories.stores.dynamodb.usage import DynamoDBUsage
from memories.stores.dynamodb.workers import Workers
from memories.stores.port import ConditionFailed, Fit, NewRecord, Record, Selection
from memories.stores.port_idempotency import KeyedRequest

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


# Threads for calls that can be made side by side: at most the four refreshes of a page of 100, of
# two pages at once.
WORKERS = 8


class DynamoDBStore:
    """Store over one table, through one client, which its threads share."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        pause: Pause = pause,
        idempotency_table: str = "",
        *,
        wall: Wall = time.time,
        first_look: int = FIRST_LOOK,
    ) -> None:
        """``pause`` is called between tries, with the number of the try that failed.

        The idempotency table is named after the table, unless it has a name of its own. ``wall`` is
        the host's clock. Listings of more memories than ``first_look`` are kept count of.
        """
        self._client = client
        self._table = table
        self._wall = wall
        self._workers = Workers(WORKERS, thread_name_prefix="dynamodb")
        queries = Queries(client, table)
        batches = Batches(client, table, pause, self._workers)
        self._updates = Updates(client, table, pause)
        marks = Marks(client, table, pause, self._workers)
        idempotency_table = idempotency_table or keys.idempotency_table_of(table)
        counters = Counters(client, table, wall)
        self._creation = Creation(
            client, table, idempotency_table, counters, pause=pause, wall=wall
        )
        self.usage = DynamoDBUsage(client, idempotency_table)
        self.log = DynamoDBLog(queries)
        self.tags = DynamoDBTags(queries)
        self.maintenance = DynamoDBMaintenance(
            client,
            table,
            pause,
            queries=queries,
            batches=batches,
            updates=self._updates,
            counters=counters,
            wall=wall,
        )
        newest = Newest(queries)
        snapshots = Snapshots(client, table, batches)
        counting = Counting(queries, newest, counters, snapshots, self._workers)
        matching = Matching(queries, newest, counting, self._workers, first_look)
        self._pages = Pages(matching, Ordering(queries, batches), batches, marks, wall)
        self.transfer = DynamoDBTransfer(
            client, table, counters, self._workers, queries=queries, batches=batches, wall=wall
        )
        self.relations = DynamoDBRelations(
            client, table, pause, self._workers, queries=queries, batches=batches, wall=wall
        )
        self.accounts = DynamoDBAccounts(client, table)
        self.erasure = DynamoDBErasure(
            client,
            table,
            idempotency_table,
            self.accounts,
            counters=counters,
            pause=pause,
            workers=self._workers,
        )

    def create(
        self,
        principal: Principal,
        drafts: Sequence[NewRecord],
        request: KeyedRequest | None = None,
    ) -> list[Record]:
        return self._creation.create(principal, drafts, request)

    def get(self, principal: Principal, memory_id: int) -> Record | None:
        with failures_sorted():
            answer = self._client.get_item(
                TableName=self._table, Key=key(principal.user_id, memory_id), ConsistentRead=True
            )
        return record_of(answer["Item"]) if "Item" in answer else None

    def access(self, principal: Principal, memory_id: int, accessed_at: str) -> Record | None:
        token = new_token(READ)
        values = attributes(
            {
                "last_accessed_at": accessed_at,
                "accessed_sort": keys.moment(accessed_at, memory_id),
                "accessed_by": principal.agent_id,
            }
        )
        condition = all_of(NOT_DELETED, readable_by(principal.agent_id), not_counted(token))
        try:
            record = self._change(principal, memory_id, values | token, condition, accesses=1)
        except ConditionNotMet:
            return None
        # Between two attempts, what the first one read may have been withdrawn.
        withdrawn = record.status == "deleted" or not may_read(record, principal.agent_id)
        return None if withdrawn else record

    def access_all(
        self, principal: Principal, memory_ids: Sequence[int], accessed_at: str, fit: Fit = len
    ) -> list[Record]:
        return self._pages.access_all(principal, memory_ids, accessed_at, fit)

    def update(
        self,
        principal: Principal,
        memory_id: int,
        version: int,
        changes: Mapping[str, Any],
        at: str,
    ) -> Record:
        values = attributes(
            {
                **changes,
                "version": version + 1,
                "updated_at": at,
                "updated_sort": keys.moment(at, memory_id),
                "updated_by": principal.agent_id,
            }
        )
        condition = all_of(at_version(version), NOT_DELETED, changeable_by(principal.agent_id))
        try:
            return self._change(principal, memory_id, values | new_token(WRITE), condition)
        except ConditionNotMet as refused:
            current = _current(refused)
            if refused.retried and current is not None and current.version > version + 1:
                # The next version may have been this call's, before another's took its place.
                # It must not be applied twice, so nothing more is said than that it failed.
                raise StoreUnavailable from refused
            raise ConditionFailed(current) from refused

    def retire(self, principal: Principal, memory_id: int, version: int | None, at: str) -> Record:
        values = attributes({"status": "deleted", "deleted_at": at}) | new_token(WRITE)
        condition = all_of(NOT_DELETED, changeable_by(principal.agent_id))
        if version is not None:
            condition = all_of(condition, at_version(version))
        try:
            return self._change(principal, memory_id, values, condition)
        except ConditionNotMet as refused:
            raise ConditionFailed(_current(refused)) from refused

    def grant(self, principal: Principal, memory_id: int, grants: Mapping[str, Any]) -> Record:
        # Without a token: to set the same grants again does no harm, and a token of this call
        # would take the place of an update's, which could then not tell that it was done.
        condition = all_of(NOT_DELETED, made_by(principal.agent_id))
        # The maker is set to who it is, so that there is something to set without any grants.
        values = attributes({"agent_id": principal.agent_id, **grants})
        try:
            return self._change(principal, memory_id, values, condition)
        except ConditionNotMet as refused:
            raise ConditionFailed(_current(refused)) from refused

    def page(
        self, principal: Principal, selection: Selection, accessed_at: str, fit: Fit = len
    ) -> tuple[list[Record], int]:
        return self._pages.page(principal, selection, accessed_at, fit)

    def count(self, principal: Principal, selection: Selection, at: str) -> int:
        return self._pages.count(principal, selection, at)

    def check(self) -> None:
        # No item has this key: whether the table answers is all that is asked.
        with failures_sorted():
            self._client.get_item(TableName=self._table, Key=key_in("CHECK", "CHECK"))

    def close(self) -> None:
        self._workers.shutdown()
        self._client.close()

    def _change(
        self,
        principal: Principal,
        memory_id: int,
        values: Item,
        condition: Condition,
        accesses: int = 0,
    ) -> Record:
        """Set the attributes of a memory, count accesses, and return it. Raises ConditionNotMet."""
        values = values | stamps.changed_by(values, memory_id, self._wall())
        return record_of(
            self._updates.change(key(principal.user_id, memory_id), values, condition, accesses)
        )


def _current(refused: ConditionNotMet) -> Record | None:
    return record_of(refused.item) if refused.item else None

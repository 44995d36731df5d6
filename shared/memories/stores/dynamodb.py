"""The store over one DynamoDB table, which template.yaml defines.

The client repeats a call whose answer it did not get, and then the call may meet what it has
itself written. So each write leaves a token of its own in the item, and a condition that fails on
an item with that token has not failed: the write is done.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memories.errors import StoreUnavailable
from memories.stores import keys
from memories.stores.dynamodb_expressions import (
    AT_VERSION,
    DELETED,
    EXISTS,
    IS_ABSENT,
    NOT_DELETED,
    names_in,
    set_all,
)
from memories.stores.dynamodb_failures import (
    MAX_TRIES,
    ConditionNotMet,
    Pause,
    TransactionCanceled,
    failures_sorted,
    pause,
)
from memories.stores.dynamodb_pages import Pages
from memories.stores.items import Item, attributes, item_of, key, record_of
from memories.stores.port import ConditionFailed, Fit, NewRecord, Record, Selection

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# Why a part of a transaction failed, where trying again can help.
_PASSING = {
    "None",
    "ProvisionedThroughputExceeded",
    "ThrottlingError",
    "TransactionConflict",
}


class DynamoDBStore:
    """Store over one table, through one client, which its threads share."""

    def __init__(self, client: DynamoDBClient, table: str, pause: Pause = pause) -> None:
        """``pause`` is called between tries, with the number of the try that failed."""
        self._client = client
        self._table = table
        self._pause = pause
        self._pages = Pages(client, table, pause)

    def create(self, user_id: str, drafts: Sequence[NewRecord]) -> list[Record]:
        first_id = self._reserve(user_id, len(drafts))
        records = [_first_version(first_id + n, draft) for n, draft in enumerate(drafts)]
        token = _token()
        items = [item_of(user_id, record) | token for record in records]
        if len(items) == 1:
            self._put(items[0])
        else:
            self._put_all(items, token["write_token"]["S"])
        return records

    def get(self, user_id: str, memory_id: int) -> Record | None:
        with failures_sorted():
            answer = self._client.get_item(
                TableName=self._table, Key=key(user_id, memory_id), ConsistentRead=True
            )
        return record_of(answer["Item"]) if "Item" in answer else None

    def access(self, user_id: str, memory_id: int, accessed_at: str) -> Record | None:
        values = attributes(
            {
                "last_accessed_at": accessed_at,
                "accessed_sort": keys.moment(accessed_at, memory_id),
            }
        )
        try:
            return self._set(user_id, memory_id, values, f"{EXISTS} AND {NOT_DELETED}", DELETED)
        except ConditionNotMet:
            return None

    def update(
        self, user_id: str, memory_id: int, version: int, changes: Mapping[str, Any], at: str
    ) -> Record:
        values = attributes(
            {
                **changes,
                "version": version + 1,
                "updated_at": at,
                "updated_sort": keys.moment(at, memory_id),
            }
        )
        condition = f"{AT_VERSION} AND {NOT_DELETED}"
        expected = {":expected": {"N": str(version)}} | DELETED
        try:
            return self._set(user_id, memory_id, values | _token(), condition, expected)
        except ConditionNotMet as refused:
            current = _current(refused)
            if refused.retried and current is not None and current.version > version + 1:
                # The next version may have been this call's, before another's took its place.
                # It must not be applied twice, so nothing more is said than that it failed.
                raise StoreUnavailable from refused
            raise ConditionFailed(current) from refused

    def retire(self, user_id: str, memory_id: int, version: int | None) -> Record:
        values = attributes({"status": "deleted"})
        condition, expected = f"{EXISTS} AND {NOT_DELETED}", DELETED
        if version is not None:
            condition = f"{condition} AND {AT_VERSION}"
            expected = expected | {":expected": {"N": str(version)}}
        try:
            return self._set(user_id, memory_id, values | _token(), condition, expected)
        except ConditionNotMet as refused:
            raise ConditionFailed(_current(refused)) from refused

    def page(
        self, user_id: str, selection: Selection, accessed_at: str, fit: Fit = len
    ) -> tuple[list[Record], int]:
        return self._pages.page(user_id, selection, accessed_at, fit)

    def check(self) -> None:
        # No item has this key: whether the table answers is all that is asked.
        with failures_sorted():
            self._client.get_item(
                TableName=self._table, Key={"pk": {"S": "CHECK"}, "sk": {"S": "CHECK"}}
            )

    def close(self) -> None:
        self._pages.close()
        self._client.close()

    def _reserve(self, user_id: str, count: int) -> int:
        """Return the first of ``count`` ids. An answer that is lost leaves a gap, no more."""
        with failures_sorted():
            answer = self._client.update_item(
                TableName=self._table,
                Key={"pk": {"S": keys.partition(user_id)}, "sk": {"S": keys.COUNTER}},
                UpdateExpression="ADD last_id :count",
                ExpressionAttributeValues={":count": {"N": str(count)}},
                ReturnValues="UPDATED_NEW",
            )
        return int(answer["Attributes"]["last_id"]["N"]) - count + 1

    def _put(self, item: Item) -> None:
        try:
            with failures_sorted():
                self._client.put_item(**self._new(item))
        except ConditionNotMet as refused:
            if not _is_own(refused.item, item):
                raise StoreUnavailable from refused

    def _put_all(self, items: Sequence[Item], token: str) -> None:
        for tries in range(1, MAX_TRIES + 1):
            try:
                with failures_sorted():
                    self._client.transact_write_items(
                        TransactItems=[{"Put": self._new(item)} for item in items],
                        # DynamoDB knows a repeat by it for ten minutes, and does not repeat it.
                        ClientRequestToken=token,
                    )
            except TransactionCanceled as canceled:
                # For a compatible endpoint that keeps no request tokens.
                if all(map(_is_own, canceled.items, items)):
                    return
                if not _PASSING.issuperset(canceled.codes):
                    raise StoreUnavailable from canceled
                self._pause(tries)
            else:
                return
        raise StoreUnavailable

    def _new(self, item: Item) -> Any:
        return {
            "TableName": self._table,
            "Item": item,
            "ConditionExpression": IS_ABSENT,
            "ExpressionAttributeNames": names_in(IS_ABSENT),
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def _set(
        self, user_id: str, memory_id: int, values: Item, condition: str, expected: Item
    ) -> Record:
        """Set the attributes of a memory and return it whole. Raises ConditionNotMet."""
        change = set_all(values)
        try:
            with failures_sorted():
                answer = self._client.update_item(
                    TableName=self._table,
                    Key=key(user_id, memory_id),
                    UpdateExpression=change,
                    ConditionExpression=condition,
                    ExpressionAttributeNames=names_in(change, condition),
                    ExpressionAttributeValues=expected
                    | {f":{name}": value for name, value in values.items()},
                    ReturnValues="ALL_NEW",
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except ConditionNotMet as refused:
            if _is_own(refused.item, values):
                return record_of(refused.item)
            raise
        return record_of(answer["Attributes"])


def _first_version(memory_id: int, draft: NewRecord) -> Record:
    return Record(
        id=memory_id,
        content=draft.content,
        tags=draft.tags,
        created_at=draft.created_at,
        updated_at=draft.created_at,
        last_accessed_at=None,
        memory_type=draft.memory_type,
        status=draft.status,
        version=1,
        agent_id=draft.agent_id,
    )


def _token() -> Item:
    return attributes({"write_token": uuid.uuid4().hex})


def _is_own(found: Item, written: Item) -> bool:
    """Say whether an item was left by the write of ``written``. A mere access leaves no token."""
    return "write_token" in written and found.get("write_token") == written["write_token"]


def _current(refused: ConditionNotMet) -> Record | None:
    return record_of(refused.item) if refused.item else None

"""Writes of several items, all or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memories.errors import StoreUnavailable
from memories.stores.dynamodb.expressions import Condition, names_in
from memories.stores.dynamodb.failures import (
    CONFLICT_TRIES,
    PASSING,
    Pause,
    TransactionCanceled,
    failures_sorted,
)
from memories.stores.dynamodb.items import Item
from memories.stores.dynamodb.tokens import WRITE, is_own

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class Transactions:
    """Transactions on one table, and the parts that they are made of."""

    def __init__(self, client: DynamoDBClient, table: str, pause: Pause) -> None:
        self._client = client
        self._table = table
        self._pause = pause

    def write(self, parts: Sequence[Any], token: Item) -> None:
        """Do all of the parts or none. Raises TransactionCanceled where a condition does not hold.

        What is written has the token in it, where it is to be known as done when its answer is
        lost. Others' writes of the same items, such as marks of access, are waited for.
        """
        for tries in range(1, CONFLICT_TRIES + 1):
            try:
                with failures_sorted():
                    self._client.transact_write_items(
                        TransactItems=parts,
                        # DynamoDB knows a repeat by it for ten minutes, and does not repeat it.
                        ClientRequestToken=token[WRITE]["S"],
                    )
            except TransactionCanceled as canceled:
                # For a compatible endpoint that keeps no request tokens.
                if any(is_own(item, token) for item in canceled.items):
                    return
                if not PASSING.issuperset(canceled.codes):
                    raise
                self._pause(tries)
            else:
                return
        raise StoreUnavailable

    def check(self, key: Item, condition: Condition) -> Any:
        """Return a part that changes nothing, and on whose condition the others depend."""
        return {
            "ConditionCheck": {"Key": key, **self._on(condition), "TableName": self._table},
        }

    def put(self, item: Item, condition: Condition | None = None) -> Any:
        return {"Put": {"Item": item, **self._on(condition), "TableName": self._table}}

    def delete(self, key: Item, condition: Condition | None = None) -> Any:
        return {"Delete": {"Key": key, **self._on(condition), "TableName": self._table}}

    def update(self, key: Item, change: str, values: Item, condition: Condition) -> Any:
        """Return a part that makes the change, whose placeholders stand for the values."""
        update = {
            "Key": key,
            "UpdateExpression": change,
            **self._on(condition, change, values),
            "TableName": self._table,
        }
        return {"Update": update}

    @staticmethod
    def _on(condition: Condition | None, change: str = "", values: Item | None = None) -> Item:
        if condition is None:
            return {}
        bound = condition.values | (values or {})
        return {
            "ConditionExpression": condition.text,
            "ExpressionAttributeNames": names_in(condition.text, change),
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            **({"ExpressionAttributeValues": bound} if bound else {}),
        }

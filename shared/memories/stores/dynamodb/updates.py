"""Updates of a memory: attributes set on a condition, and its item as it is then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memories.errors import StoreUnavailable
from memories.stores.dynamodb.expressions import Condition, names_in, set_all
from memories.stores.dynamodb.failures import (
    CONFLICT_TRIES,
    ConditionNotMet,
    Pause,
    failures_sorted,
    is_conflict,
)
from memories.stores.dynamodb.items import Item
from memories.stores.dynamodb.tokens import is_own

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class Updates:
    """Updates in one table."""

    def __init__(self, client: DynamoDBClient, table: str, pause: Pause) -> None:
        self._client = client
        self._table = table
        self._pause = pause

    def change(self, key: Item, values: Item, condition: Condition, accesses: int = 0) -> Item:
        """Update as ``once`` does, past transactions and past an answer that was lost.

        An earlier attempt is known by the token that is among the values. Raises ConditionNotMet.
        """
        for tries in range(1, CONFLICT_TRIES + 1):
            try:
                return self.once(key, values, condition, accesses)
            except ConditionNotMet as refused:
                if is_own(refused.item, values):
                    return refused.item
                refused.retried |= tries > 1
                raise
            except StoreUnavailable as failed:
                # A relation to it is being written, which takes a moment and changes nothing of it.
                if not is_conflict(failed):
                    raise
                self._pause(tries)
        raise StoreUnavailable

    def once(self, key: Item, values: Item, condition: Condition, accesses: int = 0) -> Item:
        """Set the attributes of an item, count accesses, and return it whole.

        Raises ConditionNotMet.
        """
        change = set_all(values)
        bound = condition.values | {f":{name}": value for name, value in values.items()}
        if accesses:
            change = f"{change} ADD #access_count :accesses"
            bound[":accesses"] = {"N": str(accesses)}
        with failures_sorted():
            answer = self._client.update_item(
                TableName=self._table,
                Key=key,
                UpdateExpression=change,
                ConditionExpression=condition.text,
                ExpressionAttributeNames=names_in(change, condition.text),
                ExpressionAttributeValues=bound,
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        return answer["Attributes"]

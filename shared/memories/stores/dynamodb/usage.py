"""Requests counted in DynamoDB, for all processes together: an item for each user and window.

It is an item of the idempotency table, which like it is forgotten by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memories.stores.dynamodb import keys
from memories.stores.dynamodb.expressions import all_of, below, names_in
from memories.stores.dynamodb.failures import ConditionNotMet, failures_sorted
from memories.stores.dynamodb.items import key_of
from memories.stores.port_usage import Limits, Party

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# How long an item is kept, in seconds. Nobody looks at it after its window.
_KEPT = 3_600


class DynamoDBUsage:
    """Usage in one table. A call that is repeated, its answer lost, may count twice."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def count(self, user_id: str, agent_id: str, window: int, limits: Limits) -> Party | None:
        of_agent = keys.usage_of(agent_id)
        change = f"ADD #of_user :one, #{of_agent} :one SET #expires_at = :expires_at"
        allowed = {"of_user": limits.user, of_agent: limits.agent}
        condition = all_of(*(below(name, most) for name, most in allowed.items() if most))
        try:
            with failures_sorted():
                self._client.update_item(
                    TableName=self._table,
                    Key=key_of(user_id, keys.usage(window)),
                    UpdateExpression=change,
                    ConditionExpression=condition.text,
                    ExpressionAttributeNames=names_in(change, condition.text),
                    ExpressionAttributeValues={
                        ":one": {"N": "1"},
                        ":expires_at": {"N": str(window + _KEPT)},
                        **condition.values,
                    },
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except ConditionNotMet as refused:
            counted = int(refused.item.get(of_agent, {"N": "0"})["N"])
            return "agent" if limits.agent and counted >= limits.agent else "user"
        return None

"""Tags in the DynamoDB store, counted by a walk of an index: it holds them, and the grants.

The index follows the table: for a moment, what was just recorded or changed may not be counted.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from memories.principal import Principal
from memories.stores.dynamodb.expressions import (
    NOT_DELETED,
    all_of,
    indexed_of,
    listed,
    names_in,
    readable_by,
)
from memories.stores.dynamodb.failures import failures_sorted
from memories.stores.port_tags import TagUse

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# No change of a memory moves it there: so none is met twice, and none is missed.
_INDEX = "by_created_at"


class DynamoDBTags:
    """Tags of one table."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def in_use(self, principal: Principal, limit: int, offset: int) -> tuple[list[TagUse], int]:
        among = indexed_of(principal.user_id)
        wanted = all_of(NOT_DELETED, readable_by(principal.agent_id))
        shown = listed(["tags"])
        query: dict[str, Any] = {
            "TableName": self._table,
            "IndexName": _INDEX,
            "KeyConditionExpression": among.text,
            "FilterExpression": wanted.text,
            "ProjectionExpression": shown,
            "ExpressionAttributeNames": names_in(among.text, wanted.text, shown),
            "ExpressionAttributeValues": among.values | wanted.values,
        }
        counts: Counter[str] = Counter()
        while True:
            with failures_sorted():
                answer = self._client.query(**query)
            for item in answer["Items"]:
                counts.update(tag["S"] for tag in item["tags"]["L"])
            if "LastEvaluatedKey" not in answer:
                break
            query["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        return [TagUse(*each) for each in ordered[offset:][:limit]], len(ordered)

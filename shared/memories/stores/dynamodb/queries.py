"""Queries of the table and of its indexes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from memories.stores.dynamodb.expressions import Condition, names_in
from memories.stores.dynamodb.failures import failures_sorted
from memories.stores.dynamodb.items import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class Queries:
    """Queries of one table."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def answer(
        self,
        among: Condition,
        projection: str = "",
        wanted: Condition | None = None,
        **options: Any,
    ) -> Item:
        """Return one answer: what is ``among`` some keys and ``wanted``, or the first part of it.

        Without a projection, its items are whole. ``options`` are parameters of DynamoDB's by their
        own names.
        """
        if projection:
            options["ProjectionExpression"] = projection
        if wanted is not None:
            options["FilterExpression"] = wanted.text
        filtered = wanted or Condition("", {})
        with failures_sorted():
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression=among.text,
                ExpressionAttributeNames=names_in(among.text, filtered.text, projection),
                ExpressionAttributeValues=among.values | filtered.values,
                **options,
            )
        return dict(answer)

    def answers(
        self,
        among: Condition,
        projection: str = "",
        wanted: Condition | None = None,
        **options: Any,
    ) -> Iterator[Item]:
        """Yield the answers of a query one after another, as they are asked for, to its end."""
        while True:
            answer = self.answer(among, projection, wanted, **options)
            yield answer
            if "LastEvaluatedKey" not in answer:
                return
            options["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

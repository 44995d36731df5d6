"""A table on moto, made from the template, and clients that get in the way of its calls."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, cast

from mypy_boto3_dynamodb import DynamoDBClient

from local.table import create_table
from memories.stores.dynamodb.keys import idempotency_table_of

TEMPLATE = Path(__file__).parents[2] / "template.yaml"

_FEW = 10

# More parts than a create has.
_MANY = 30

_names = (f"memories-{number}" for number in itertools.count())


@contextmanager
def new_table(client: DynamoDBClient) -> Iterator[str]:
    """Yield the name of an empty table, which is deleted afterwards: moto slows down with rows."""
    name = next(_names)
    keys_name = idempotency_table_of(name)
    create_table(client, name, TEMPLATE)
    create_table(client, keys_name, TEMPLATE, "IdempotencyTable")
    yield name
    client.delete_table(TableName=name)
    client.delete_table(TableName=keys_name)


class OtherClient:
    """A client that is another one but for what a subclass changes."""

    def __init__(self, client: DynamoDBClient) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def as_client(self) -> DynamoDBClient:
        return cast("DynamoDBClient", self)


class AtomicCalls(OtherClient):
    """Makes each call atomic, as DynamoDB's are and moto's are not."""

    def __init__(self, client: DynamoDBClient) -> None:
        super().__init__(client)
        self._lock = Lock()

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.client, name)

        def alone(*arguments: Any, **named: Any) -> Any:
            with self._lock:
                return call(*arguments, **named)

        return alone


class QuickMoto(OtherClient):
    """Does one by one what moto copies the whole table for: statements, and parts of a batch."""

    def transact_write_items(self, TransactItems: list[Any], **_: Any) -> None:  # noqa: N803
        puts = [part.get("Put") for part in TransactItems]
        # What is put into two tables can be refused by one. Many deletions, on the other hand, are
        # an erasure's, which nothing else is at here.
        if len(TransactItems) < _MANY and (
            None in puts or len({put["TableName"] for put in puts if put}) > 1
        ):
            self.client.transact_write_items(TransactItems=TransactItems)
            return
        calls: dict[str, Any] = {
            "Put": self.client.put_item,
            "Delete": self.client.delete_item,
            "Update": self.client.update_item,
        }
        for part in TransactItems:
            ((kind, arguments),) = part.items()
            calls[kind](**arguments)

    def batch_execute_statement(self, Statements: list[Any]) -> Any:  # noqa: N803
        for statement in Statements:
            at, sort, count, agent, pk, sk = statement["Parameters"]
            self.client.update_item(
                TableName=statement["Statement"].split('"')[1],
                Key={"pk": pk, "sk": sk},
                UpdateExpression=(
                    "SET last_accessed_at = :at, accessed_sort = :sort, access_count = :count, "
                    "accessed_by = :agent"
                ),
                ExpressionAttributeValues={
                    ":at": at,
                    ":sort": sort,
                    ":count": count,
                    ":agent": agent,
                },
            )
        return {"Responses": [{}] * len(Statements)}


class ShortWalks(OtherClient):
    """Ends the page of a walk after a few items, as DynamoDB does after a megabyte of them."""

    PAGE = 4

    def query(self, **query: Any) -> Any:
        return self.client.query(**query | {"Limit": min(self.PAGE, query.get("Limit", self.PAGE))})


class FewNewest(OtherClient):
    """Returns few of the newest memories, so that the others are left to indexes and snapshots."""

    NEWEST = 2

    def query(self, **query: Any) -> Any:
        is_of_newest = "IndexName" not in query and not query.get("ScanIndexForward", True)
        return self.client.query(**query | ({"Limit": self.NEWEST} if is_of_newest else {}))


class LaggingIndexes(OtherClient):
    """Answers index queries from a copy of the table that stands still."""

    def __init__(self, client: DynamoDBClient, table: str, copy: str) -> None:
        super().__init__(client)
        for item in client.scan(TableName=table)["Items"]:
            client.put_item(TableName=copy, Item=item)
        self._copy = copy

    def query(self, **query: Any) -> Any:
        elsewhere = {"TableName": self._copy} if "IndexName" in query else {}
        return self.client.query(**query | elsewhere)

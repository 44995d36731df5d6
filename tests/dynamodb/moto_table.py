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

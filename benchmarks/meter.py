"""A DynamoDB client that counts what its calls use, by the rules, on an emulator.

Emulators do not count by the rules, or not everywhere. So each item that a call reads or writes is
looked at on the side, before and after.
"""

import re
from collections.abc import Callable, Mapping
from threading import Lock, get_ident
from typing import Any, cast

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import DynamoDBBackend, dynamodb_backends
from mypy_boto3_dynamodb import DynamoDBClient

from units import Index, Item, Units, read_units, size, write_units

_KEYS = ("pk", "sk")
_READING = {"get_item", "query", "batch_get_item"}
_UPDATE = re.compile(r'UPDATE "(?P<table>[^"]+)" SET (?P<set>.+) WHERE pk=\? AND sk=\?')
_MEGABYTE = 1024 * 1024
# The parts of a transaction are calls of their own, here.
_PARTS = {"Update": "update_item", "Delete": "delete_item"}

Request = dict[str, Any]


class Meter:
    """A client in every way but that ``used`` grows with each call, and ``reported`` beside it."""

    def __init__(self, client: DynamoDBClient) -> None:
        self._client: Any = client
        self._lock = Lock()
        self._indexes: dict[str, list[Index]] = {}
        self._counted: dict[str, Callable[[str, Request], Any]] = {
            "get_item": self._get,
            "put_item": self._write,
            "update_item": self._write,
            "delete_item": self._write,
            "query": self._query,
            "batch_get_item": self._batch_get,
            "batch_execute_statement": self._statements,
            "transact_write_items": self._transaction,
        }
        self._walked: dict[tuple[str, int], int] = {}
        self.used = Units()
        # As the emulator has it.
        self.reported = Units()

    def as_client(self) -> DynamoDBClient:
        return cast("DynamoDBClient", self)

    def reset(self) -> None:
        self.used, self.reported = Units(), Units()

    def __getattr__(self, name: str) -> Any:
        if name in {"meta", "exceptions", "close"}:
            return getattr(self._client, name)
        if name not in self._counted:
            raise NotImplementedError(f"what {name} uses is not known here")
        count = self._counted[name]
        return lambda **request: count(name, request)

    def _send(self, name: str, request: Mapping[str, Any]) -> Any:
        answer = getattr(self._client, name)(**request, ReturnConsumedCapacity="INDEXES")
        self._count(calls=1)
        found = answer.get("ConsumedCapacity", [])
        units = sum(
            each["CapacityUnits"] for each in (found if isinstance(found, list) else [found])
        )
        of_reads = name in _READING
        with self._lock:
            self.reported += Units(1, units * of_reads, units * (not of_reads))
        return answer

    def _count(self, reads: float = 0, writes: float = 0, calls: int = 0) -> None:
        with self._lock:
            self.used += Units(calls, reads, writes)

    def _get(self, name: str, request: Request) -> Any:
        found = self._item(request["TableName"], request["Key"])
        self._count(reads=read_units([size(found or {})], request.get("ConsistentRead", False)))
        return self._send(name, request)

    def _write(self, name: str, request: Request) -> Any:
        table, key = request["TableName"], _key(request.get("Item") or request["Key"])
        before = self._item(table, key)
        try:
            return self._send(name, request)
        finally:
            # Where the condition does not hold, the item is as it was, and is paid for.
            self._count_write(table, before, self._item(table, key))

    def _query(self, name: str, request: Request) -> Any:
        answer = self._send(name, request)
        # All that was looked at, with every attribute that is there.
        bare: Request = {
            each: request[each]
            for each in (
                *("TableName", "IndexName", "KeyConditionExpression", "ConsistentRead"),
                *("ScanIndexForward", "ExclusiveStartKey"),
            )
            if each in request
        }
        for kind, pattern in (("Names", r"#\w+"), ("Values", r":\w+")):
            used = set(re.findall(pattern, request["KeyConditionExpression"]))
            values = request.get(f"ExpressionAttribute{kind}", {})
            if kept := {each: values[each] for each in used if each in values}:
                bare[f"ExpressionAttribute{kind}"] = kept
        sizes: list[int] = []
        while len(sizes) < answer["ScannedCount"]:
            looked = self._client.query(**bare, Limit=answer["ScannedCount"] - len(sizes))
            sizes += [size(item) for item in looked["Items"]]
            if "LastEvaluatedKey" not in looked:
                break
            bare["ExclusiveStartKey"] = looked["LastEvaluatedKey"]
        self._count(
            reads=read_units(sizes, request.get("ConsistentRead", False)),
            calls=self._too_early(request, sum(sizes)),
        )
        return answer

    def _too_early(self, request: Request, looked_at: int) -> int:
        """Return -1 for a call that only an emulator wants.

        DynamoDB ends a page at a megabyte of what it looks at, which of an index is its entries;
        emulators end it at a megabyte of whole items.
        """
        if "Limit" in request:
            return 0
        walk = (request.get("IndexName", ""), get_ident())
        before = self._walked.get(walk, 0) if "ExclusiveStartKey" in request else 0
        self._walked[walk] = before + looked_at
        goes_on = "ExclusiveStartKey" in request
        return -1 if goes_on and before // _MEGABYTE == (before + looked_at) // _MEGABYTE else 0

    def _batch_get(self, name: str, request: Request) -> Any:
        for table, wanted in request["RequestItems"].items():
            for key in wanted["Keys"]:
                found = self._item(table, key) or {}
                self._count(reads=read_units([size(found)], wanted.get("ConsistentRead", False)))
        return self._send(name, request)

    def _statements(self, name: str, request: Request) -> Any:
        places = []
        for each in request["Statements"]:
            table = each["Statement"].split('"')[1]
            key = dict(zip(_KEYS, each["Parameters"][-2:], strict=True))
            places.append((table, key, self._item(table, key)))
        answer = self._send(name, request)
        for table, key, before in places:
            self._count_write(table, before, self._item(table, key))
        return answer

    def _transaction(self, name: str, request: Request) -> Any:
        places = []
        for part in request["TransactItems"]:
            ((_, each),) = part.items()
            key = _key(each.get("Item") or each["Key"])
            places.append((each["TableName"], key, self._item(each["TableName"], key)))
        answer = self._send(name, request)
        for table, key, before in places:
            self._count_write(table, before, self._item(table, key), times=2)
        return answer

    def _count_write(
        self, table: str, before: Item | None, after: Item | None, times: int = 1
    ) -> None:
        self._count(writes=write_units(before, after, self._indexes_of(table), times))

    def _item(self, table: str, key: Item) -> Item | None:
        found = self._client.get_item(TableName=table, Key=key, ConsistentRead=True)
        item: Item | None = found.get("Item")
        return item

    def _indexes_of(self, table: str) -> list[Index]:
        if table not in self._indexes:
            described = self._client.describe_table(TableName=table)["Table"]
            of_table = _names(described["KeySchema"])
            self._indexes[table] = [
                _index(each, of_table) for each in described.get("GlobalSecondaryIndexes", [])
            ]
        return self._indexes[table]


class Quick:
    """A client of moto that does one by one what moto copies a whole table for.

    These are the parts of a transaction, and statements.
    """

    def __init__(self, client: DynamoDBClient) -> None:
        self._client: Any = client

    def as_client(self) -> DynamoDBClient:
        return cast("DynamoDBClient", self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def transact_write_items(self, TransactItems: list[Any], **_: Any) -> Any:  # noqa: N803
        for part in TransactItems:
            ((kind, each),) = part.items()
            if kind == "Put":
                # Past the client, whose part is the most of it.
                _backend().put_item(each["TableName"], each["Item"])
            elif kind in _PARTS:
                getattr(self._client, _PARTS[kind])(**each)
        return {}

    def batch_execute_statement(self, Statements: list[Any], **_: Any) -> Any:  # noqa: N803
        for each in Statements:
            parsed = _UPDATE.fullmatch(each["Statement"])
            assert parsed, each["Statement"]
            names = re.findall(r"(\w+) ?= ?\?", parsed["set"])
            *values, pk, sk = each["Parameters"]
            self._client.update_item(
                TableName=parsed["table"],
                Key={"pk": pk, "sk": sk},
                UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in names),
                ExpressionAttributeNames={f"#{name}": name for name in names},
                ExpressionAttributeValues={
                    f":{name}": value for name, value in zip(names, values, strict=True)
                },
            )
        return {"Responses": [{}] * len(Statements)}


def _backend() -> DynamoDBBackend:
    return dynamodb_backends[DEFAULT_ACCOUNT_ID]["us-east-1"]


def _index(described: Mapping[str, Any], of_table: tuple[str, ...]) -> Index:
    keys = _names(described["KeySchema"])
    projection = described["Projection"]
    if projection["ProjectionType"] == "ALL":
        return Index(keys, None)
    return Index(keys, frozenset({*keys, *of_table, *projection.get("NonKeyAttributes", [])}))


def _names(schema: list[dict[str, str]]) -> tuple[str, ...]:
    return tuple(each["AttributeName"] for each in schema)


def _key(item: Item) -> Item:
    return {name: item[name] for name in _KEYS}

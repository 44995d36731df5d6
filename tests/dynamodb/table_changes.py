"""The stream of a table on moto, handed on as Lambda does: filtered by the template, in batches."""

import json
from collections.abc import Mapping
from typing import Any

import boto3
from botocore.config import Config
from mypy_boto3_dynamodb import DynamoDBClient

from memories.config import Settings
from memories.stores.dynamodb.log import LogWriter
from memories.stores.port_log import LOG_DAYS
from stream.app import Handler, build_handler
from template import template


def stream_handler(client: DynamoDBClient, table: str, days: int = LOG_DAYS) -> Handler:
    """Return the stream function over a table."""
    return build_handler(LogWriter(client, table, days), Settings(), "stream")


class Changes:
    """What changes in a table from now on."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        specification: Any = {
            "StreamEnabled": True,
            **template()["Resources"]["Table"]["Properties"]["StreamSpecification"],
        }
        client.update_table(TableName=table, StreamSpecification=specification)
        # Moto does not know the address that has the account's number in it.
        config = Config(account_id_endpoint_mode="disabled")
        self._streams = boto3.client(
            "dynamodbstreams", region_name=client.meta.region_name, config=config
        )
        self._arn = client.describe_table(TableName=table)["Table"]["LatestStreamArn"]
        self._read = 0

    def all(self) -> list[dict[str, Any]]:
        """Return the records since the last time."""
        # From the beginning: moto loses the place in a table that it puts back to what it was,
        # after a transaction that failed.
        shard = self._streams.describe_stream(StreamArn=self._arn)["StreamDescription"]["Shards"][0]
        place = self._streams.get_shard_iterator(
            StreamArn=self._arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        answer: Any = self._streams.get_records(ShardIterator=place)
        records: list[dict[str, Any]] = answer["Records"][self._read :]
        self._read += len(records)
        return records

    def event(self) -> dict[str, Any]:
        """Return those of them that the function is invoked for, as one batch."""
        return {"Records": [record for record in self.all() if is_wanted(record)]}


def is_wanted(record: Mapping[str, Any]) -> bool:
    """Say whether a record passes the filters that the template has."""
    source = template()["Resources"]["StreamSource"]["Properties"]
    patterns = [json.loads(each["Pattern"]) for each in source["FilterCriteria"]["Filters"]]
    return any(_matches(record, pattern) for pattern in patterns)


def _matches(value: Any, pattern: Any) -> bool:
    if isinstance(pattern, dict):
        return all(name in value and _matches(value[name], part) for name, part in pattern.items())
    return any(
        value.startswith(rule["prefix"]) if isinstance(rule, dict) else value == rule
        for rule in pattern
    )

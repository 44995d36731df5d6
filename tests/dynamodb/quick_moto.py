"""moto, doing in the time of a few items what else takes it the time of all its tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import pytest
from moto.core.serialize import BaseJSONSerializer
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table
from moto.dynamodb.parsing import partiql

_transact = DynamoDBBackend.transact_write_items
_project = Item.project
_serialize_structure = BaseJSONSerializer._serialize_type_structure


@contextmanager
def quick_moto() -> Iterator[None]:
    """Have moto do less for the same: its answers stay as they are.

    By itself it gives every statement the items of all tables, once for each index of theirs,
    copies each table whole before a transaction, reads an item whole for each attribute of a
    projection, and looks for each attribute's value under some forty names.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DynamoDBBackend, "execute_statement", _execute_statement)
        patch.setattr(DynamoDBBackend, "transact_write_items", _transact_write_items)
        patch.setattr(Table, "__deepcopy__", lambda table, _: table, raising=False)
        patch.setattr(Item, "project", _projected)
        patch.setattr(BaseJSONSerializer, "_serialize_type_structure", _serialize)
        yield


def _execute_statement(
    backend: DynamoDBBackend, statement: str, parameters: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Execute a statement that ends in ``WHERE pk=? AND sk=?``."""
    table = backend.tables[statement.split('"')[1]]
    pk, sk = map(DynamoType, parameters[-2:])
    item = table.get_item(pk, sk)
    seen = [item.to_json()["Attributes"]] if item else []
    found, updates = partiql.query(statement, {table.name: seen}, parameters)
    for _, after in updates.get(table.name, []):
        assert after is not None
        table.put_item(after)
    return found


def _transact_write_items(backend: DynamoDBBackend, transact_items: list[dict[str, Any]]) -> None:
    before = []
    for part in transact_items:
        ((kind, named),) = part.items()
        table = backend.get_table(named["TableName"])
        keys = backend.get_keys_value(table, named["Item" if kind == "Put" else "Key"])
        before.append((table, keys, deepcopy(table.get_item(*keys))))
    shards = {id(shard): shard for table, *_ in before if (shard := table.stream_shard)}
    streamed = {name: len(shard.items) for name, shard in shards.items()}
    try:
        _transact(backend, transact_items)
    except Exception:
        for table, (hash_key, range_key), item in before:
            table.delete_item(hash_key, range_key)
            if item is not None:
                _put_back(table, hash_key, range_key, item)
        for name, shard in shards.items():
            del shard.items[streamed[name] :]
        raise


def _put_back(table: Table, hash_key: Any, range_key: Any, item: Any) -> None:
    if range_key is None:
        table.items[hash_key] = item
    else:
        table.items[hash_key][range_key] = item


def _projected(item: Item, projection_expressions: list[list[str]]) -> Item:
    if any(len(path) > 1 for path in projection_expressions):
        return _project(item, projection_expressions)
    projected = Item(item.hash_key, item.range_key, {})
    names = [name for (name,) in projection_expressions]
    # Not one by one: for each, it would add up the sizes of all.
    dict.update(projected.attrs, {name: item.attrs[name] for name in names if name in item.attrs})
    return projected


def _serialize(
    serializer: BaseJSONSerializer, serialized: Any, value: Any, shape: Any, key: str
) -> None:
    if shape.name == "AttributeValue" and value.keys().isdisjoint({"B", "BS"}):
        serializer._default_serialize(serialized, value, shape, key)
    else:
        _serialize_structure(serializer, serialized, value, shape, key)

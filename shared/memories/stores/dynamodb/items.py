"""Between records and the table's items, in the form in which DynamoDB sends attributes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from memories.grants import may_read
from memories.stores.dynamodb import keys
from memories.stores.port import Record, Selection
from memories.stores.port_relations import RelationRecord
from memories.text import SEPARATOR, fold, search_text

Item = dict[str, Any]

# What the index of each sort is ordered by. Ids grow in creation order, and are put in order.
SORT_ATTRIBUTES = {
    "id": "created_sort",
    "created_at": "created_sort",
    "updated_at": "updated_sort",
    "last_accessed_at": "accessed_sort",
}


class Grants(NamedTuple):
    """What the rules of the grants look at, of an item that may be read in part."""

    agent_id: str
    is_public: bool
    read_only: bool
    shared_with_agents: tuple[str, ...]


def key(user_id: str, memory_id: int) -> Item:
    """Return the primary key of a memory."""
    return key_of(user_id, keys.memory(memory_id))


def key_of(user_id: str, sort_key: str) -> Item:
    """Return the primary key of what is in the user's partition."""
    return key_in(keys.partition(user_id), sort_key)


def key_in(partition: str, sort_key: str) -> Item:
    """Return a primary key."""
    return {"pk": {"S": partition}, "sk": {"S": sort_key}}


def item_of(user_id: str, record: Record) -> Item:
    """Return the whole item of a record."""
    sorts = {
        "created_sort": keys.moment(record.created_at, record.id),
        "updated_sort": keys.moment(record.updated_at, record.id),
        "accessed_sort": keys.moment(record.last_accessed_at, record.id),
    }
    return key(user_id, record.id) | attributes(record._asdict() | sorts)


def attributes(values: Mapping[str, Any]) -> Item:
    """Return values by name as attributes, with those that follow from them.

    None is an absent attribute. Content and tags are searched in attributes of their own, so that
    a change of one need not know the other.
    """
    item = {name: _attribute(value) for name, value in values.items() if value is not None}
    if "content" in values:
        item["search_content"] = {"S": fold(values["content"])}
    if "tags" in values:
        item["search_tags"] = {"S": SEPARATOR.join(map(fold, values["tags"]))}
    return item


def record_of(item: Item) -> Record:
    """Return the record that an item holds."""
    return Record(
        id=int(item["id"]["N"]),
        content=item["content"]["S"],
        tags=_texts(item["tags"]),
        created_at=item["created_at"]["S"],
        updated_at=item["updated_at"]["S"],
        last_accessed_at=_text_or_none(item, "last_accessed_at"),
        memory_type=item["memory_type"]["S"],
        status=item["status"]["S"],
        version=int(item["version"]["N"]),
        importance=int(item["importance"]["N"]),
        category=_text_or_none(item, "category"),
        source=_text_or_none(item, "source"),
        access_count=int(item["access_count"]["N"]),
        **_grants(item)._asdict(),
    )


def relation_of(item: Item) -> RelationRecord:
    """Return the relation that an item, or its mirror, holds."""
    return RelationRecord(
        from_id=int(item["from_id"]["N"]),
        relation_type=item["relation_type"]["S"],
        to_id=int(item["to_id"]["N"]),
        strength=float(item["strength"]["N"]),
        created_at=item["created_at"]["S"],
        agent_id=item["agent_id"]["S"],
    )


def is_readable(item: Item, agent_id: str) -> bool:
    """Say whether a memory, as it is now, is not deleted and may be read by the agent."""
    return item["status"]["S"] != "deleted" and may_read(_grants(item), agent_id)


def matches(item: Item, selection: Selection, agent_id: str) -> bool:
    """Say whether the item, as it is now, is one of the selection that the agent may read."""
    status = item["status"]["S"]
    tags = _texts(item["tags"])
    return (
        (status != "deleted" if selection.status is None else status == selection.status)
        and selection.memory_type in (None, item["memory_type"]["S"])
        and (selection.tag is None or selection.tag in tags)
        and (selection.text is None or selection.text in search_text(item["content"]["S"], tags))
        and may_read(_grants(item), agent_id)
    )


def _grants(item: Item) -> Grants:
    return Grants(
        agent_id=item["agent_id"]["S"],
        is_public=item["is_public"]["BOOL"],
        read_only=item["read_only"]["BOOL"],
        shared_with_agents=_texts(item["shared_with_agents"]),
    )


def _texts(attribute: Item) -> tuple[str, ...]:
    return tuple(part["S"] for part in attribute["L"])


def _text_or_none(item: Item, name: str) -> str | None:
    return item[name]["S"] if name in item else None


def _attribute(value: object) -> dict[str, Any]:
    if isinstance(value, bool):  # before the numbers, for it is one too
        return {"BOOL": value}
    if isinstance(value, (int, float)):
        return {"N": str(value)}
    if isinstance(value, tuple):
        return {"L": [_attribute(part) for part in value]}
    return {"S": value}

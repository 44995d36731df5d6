"""Conditions and filters of the DynamoDB calls, each clause named, with its reason beside it."""

import re
from collections.abc import Iterable

from memories.stores import keys
from memories.stores.items import Item
from memories.stores.port import Selection

# The counter gave the id to this one call, so an item under it is the call's own, written by an
# earlier attempt; or the counter was set back, and then another's memory is not to be overwritten.
IS_ABSENT = "attribute_not_exists(#pk)"

# UpdateItem creates the item that it does not find.
EXISTS = "attribute_exists(#pk)"

# To everyone but a listing of the deleted, a deleted memory is not there. It stays deleted.
NOT_DELETED = "#status <> :deleted"

# Two writers who read the same version: the second must look again. It also says "exists".
AT_VERSION = "#version = :expected"

DELETED: Item = {":deleted": {"S": "deleted"}}

# The counter shares the partition, and other items of the user will.
MEMORIES_OF = "#pk = :pk AND begins_with(#sk, :memory_prefix)"

# An index holds memories only.
INDEXED_OF = "#pk = :pk"


def memories_of(user_id: str) -> Item:
    """Return the values of MEMORIES_OF."""
    return indexed_of(user_id) | {":memory_prefix": {"S": keys.MEMORY_PREFIX}}


def indexed_of(user_id: str) -> Item:
    """Return the values of INDEXED_OF."""
    return {":pk": {"S": keys.partition(user_id)}}


def selected(selection: Selection) -> tuple[str, Item]:
    """Return the filter for a selection and its values."""
    clauses, values = [], {}
    if selection.status is None:
        clauses.append(NOT_DELETED)
        values.update(DELETED)
    else:
        clauses.append("#status = :status")
        values[":status"] = {"S": selection.status}
    if selection.memory_type is not None:
        clauses.append("#memory_type = :memory_type")
        values[":memory_type"] = {"S": selection.memory_type}
    if selection.tag is not None:
        # Tags are a list, and of a list contains() means: one element equals.
        clauses.append("contains(#tags, :tag)")
        values[":tag"] = {"S": selection.tag}
    if selection.text is not None:
        # Of a string contains() means: a part equals. No text holds what stands between two tags,
        # so no match spans them.
        clauses.append("(contains(#search_content, :text) OR contains(#search_tags, :text))")
        values[":text"] = {"S": selection.text}
    return " AND ".join(clauses), values


def set_all(names: Iterable[str]) -> str:
    """Return the update expression that sets each attribute to the value of its name."""
    return "SET " + ", ".join(f"#{name} = :{name}" for name in names)


def listed(names: Iterable[str]) -> str:
    """Return the projection expression of the attributes."""
    return ", ".join(f"#{name}" for name in names)


def names_in(*expressions: str) -> dict[str, str]:
    """Return what the placeholders in the expressions stand for: the attribute named alike.

    Every attribute is written as a placeholder, for the words that DynamoDB reserves are many.
    """
    return {
        placeholder: placeholder[1:]
        for expression in expressions
        for placeholder in re.findall(r"#\w+", expression)
    }

"""Conditions and filters of the DynamoDB calls, each clause named, with its reason beside it."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from memories.fields import Status
from memories.stores.dynamodb import keys
from memories.stores.dynamodb.items import Item, attributes
from memories.stores.port import Selection
from memories.stores.port_maintenance import Candidate


class Condition(NamedTuple):
    """The text of a condition, and the values that its placeholders stand for."""

    text: str
    values: Item


# The counter gave the id to this one call, so an item under it is the call's own, written by an
# earlier attempt; or the counter was set back, and then another's memory is not to be overwritten.
IS_ABSENT = Condition("attribute_not_exists(#pk)", {})

IS_THERE = Condition("attribute_exists(#pk)", {})


def below(name: str, most: int) -> Condition:
    """What was never counted is not there. A count at its most stays at it."""
    return Condition(
        f"(attribute_not_exists(#{name}) OR #{name} < :most_{name})",
        {f":most_{name}": {"N": str(most)}},
    )


def expired(at: int) -> Condition:
    """What is over by its time to live, in seconds, stays until DynamoDB gets to it: for days."""
    return Condition("#expires_at <= :at", {":at": {"N": str(at)}})


# To everyone but a listing of the deleted, a deleted memory is not there. It stays deleted.
NOT_DELETED = Condition("#status <> :deleted", {":deleted": {"S": "deleted"}})

# What an agent that is not the maker may read. The names are a list, and of a list contains()
# means: one element equals.
_IS_OPEN = "(#is_public = :true OR contains(#shared_with_agents, :agent))"


def at_version(version: int) -> Condition:
    """Two writers who read the same version: the second must look again."""
    return Condition("#version = :expected", {":expected": {"N": str(version)}})


def in_status(status: Status) -> Condition:
    """What is invalid already is not made so again, which would be a version without a change."""
    return _equal("status", status)


def recorded_at(created_at: str) -> Condition:
    """The relation that was met, and not one that took its place: it keeps who recorded it."""
    return _equal("created_at", created_at)


# UpdateItem creates the item that it does not find. The next three do not hold for one that is
# not there, so nothing else has to say that it must be.


def readable_by(agent_id: str) -> Condition:
    """To an agent that may not read it, a memory is not there. The rule is grants.may_read."""
    return Condition(
        f"(#agent_id = :agent OR {_IS_OPEN})",
        {":agent": {"S": agent_id}, ":true": {"BOOL": True}},
    )


def changeable_by(agent_id: str) -> Condition:
    """Grants may change after they were looked at. The rule is grants.may_change."""
    return Condition(
        f"(#agent_id = :agent OR ({_IS_OPEN} AND #read_only = :false))",
        {":agent": {"S": agent_id}, ":true": {"BOOL": True}, ":false": {"BOOL": False}},
    )


def made_by(agent_id: str) -> Condition:
    """Only the maker gives grants."""
    return Condition("#agent_id = :agent", {":agent": {"S": agent_id}})


def not_counted(token: Item) -> Condition:
    """The answer to an earlier attempt was lost: the reading is one all the same.

    Before the first reading there is no token at all.
    """
    return Condition(
        "(attribute_not_exists(#read_token) OR #read_token <> :read_token)",
        {":read_token": token["read_token"]},
    )


def memories_of(user_id: str) -> Condition:
    """The counter shares the partition, and other items of the user will."""
    return all_of(
        indexed_of(user_id),
        Condition(
            "begins_with(#sk, :memory_prefix)", {":memory_prefix": {"S": keys.MEMORY_PREFIX}}
        ),
    )


def last_accessed_until(user_id: str, at: str) -> Condition:
    """Those that were never accessed sort before every time."""
    # "$" follows "#", which stands between a time and an id.
    return all_of(
        indexed_of(user_id), Condition("#accessed_sort <= :until", {":until": {"S": f"{at}$"}})
    )


def as_found(memory: Candidate) -> Condition:
    """Between a look at a memory and its change by no one, a person's own change wins."""
    names = [name for name in Candidate._fields if name not in {"user_id", "id"}]
    found = attributes({name: getattr(memory, name) for name in names})
    clauses = [
        f"#{name} = :found_{name}" if name in found else f"attribute_not_exists(#{name})"
        for name in names
    ]
    return Condition(
        " AND ".join(clauses), {f":found_{name}": value for name, value in found.items()}
    )


def memories_after(user_id: str, memory_id: int, up_to: int = keys.MAX_ID) -> Condition:
    """Memories are kept in the order of their ids, and other items on either side of them."""
    bounds = {":first": keys.memory(memory_id + 1), ":last": keys.memory(up_to)}
    return all_of(
        indexed_of(user_id),
        Condition(
            "#sk BETWEEN :first AND :last",
            {name: {"S": bound} for name, bound in bounds.items()},
        ),
    )


def indexed_above(user_id: str, attribute: str, value: str) -> Condition:
    """What an index has above a sort value, which need not be the value of any memory."""
    return all_of(
        indexed_of(user_id), Condition(f"#{attribute} > :above", {":above": {"S": value}})
    )


def counted_less(memory_id: int) -> Condition:
    """The counter only goes up, whoever moves it meanwhile; a user's first id makes it."""
    return Condition(
        "(attribute_not_exists(#last_id) OR #last_id < :last)", {":last": {"N": str(memory_id)}}
    )


def related_to(user_id: str, prefix: str) -> Condition:
    """The relations of a memory, or of one type, are next to one another."""
    return all_of(
        indexed_of(user_id),
        Condition("begins_with(#sk, :relation_prefix)", {":relation_prefix": {"S": prefix}}),
    )


def related_from(user_id: str, first_id: int, last_id: int) -> Condition:
    """The relations out of some memories are next to one another, in the order of these."""
    bounds = {
        ":first": keys.relations_of(keys.RELATION_PREFIX, first_id, None),
        # Of the next memory there is none with just this key.
        ":last": keys.relations_of(keys.RELATION_PREFIX, last_id + 1, None),
    }
    return all_of(
        indexed_of(user_id),
        Condition(
            "#sk BETWEEN :first AND :last",
            {name: {"S": bound} for name, bound in bounds.items()},
        ),
    )


def logged_of(user_id: str, memory_id: int) -> Condition:
    """A memory's log is a partition of its own."""
    return Condition("#pk = :pk", {":pk": {"S": keys.log(user_id, memory_id)}})


def indexed_of(user_id: str) -> Condition:
    """An index holds memories only, so the partition is enough."""
    return Condition("#pk = :pk", {":pk": {"S": keys.partition(user_id)}})


def agents_of(user_id: str) -> Condition:
    """The agents among what is in the user's partition."""
    return all_of(
        indexed_of(user_id),
        Condition("begins_with(#sk, :agent_prefix)", {":agent_prefix": {"S": keys.AGENT_PREFIX}}),
    )


def selected(selection: Selection) -> Condition:
    """Return the filter for a selection."""
    clauses = [NOT_DELETED if selection.status is None else _equal("status", selection.status)]
    if selection.memory_type is not None:
        clauses.append(_equal("memory_type", selection.memory_type))
    if selection.tag is not None:
        # Tags are a list, as the agents' names above.
        clauses.append(Condition("contains(#tags, :tag)", {":tag": {"S": selection.tag}}))
    if selection.text is not None:
        # Of a string contains() means: a part equals. No text holds what stands between two tags,
        # so no match spans them.
        clauses.append(
            Condition(
                "(contains(#search_content, :text) OR contains(#search_tags, :text))",
                {":text": {"S": selection.text}},
            )
        )
    return all_of(*clauses)


def all_of(*conditions: Condition) -> Condition:
    """Return the condition that holds where all of them do."""
    values: Item = {}
    for condition in conditions:
        values |= condition.values
    return Condition(" AND ".join(condition.text for condition in conditions), values)


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


def _equal(name: str, value: str) -> Condition:
    return Condition(f"#{name} = :{name}", {f":{name}": {"S": value}})

"""The items of an erasure in the DynamoDB store: its own, and those that it is about to delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memories.stores.dynamodb import keys
from memories.stores.dynamodb.expressions import IS_THERE, Condition, names_in
from memories.stores.dynamodb.items import Item, key_in
from memories.stores.dynamodb.tokens import WRITE
from memories.stores.port_erasure import KINDS

# What the items of a user's partition are counted as, by what their sort keys begin with. Whatever
# else there is goes too, uncounted: of a relation and its mirror one is counted.
_COUNTED = {
    keys.MEMORY_PREFIX: "memories",
    keys.AGENT_PREFIX: "agents",
    keys.RELATION_PREFIX: "relations",
}


class Deletion(NamedTuple):
    """An item to delete, by its table and key, and what it counts as."""

    table: str
    pk: str
    sk: str
    kind: str | None

    @property
    def part(self) -> Any:
        """The part of a transaction that deletes it."""
        delete: dict[str, Any] = {"TableName": self.table, "Key": key_in(self.pk, self.sk)}
        if self.kind is not None:
            # Nothing is counted that was not there: it may have expired, or been removed.
            delete |= {
                "ConditionExpression": IS_THERE.text,
                "ExpressionAttributeNames": names_in(IS_THERE.text),
            }
        return {"Delete": delete}


def kind_of(sort_key: str) -> str | None:
    """Return what an item of a user's partition counts as."""
    kinds = (kind for prefix, kind in _COUNTED.items() if sort_key.startswith(prefix))
    return next(kinds, None)


class Batch(NamedTuple):
    """What the next step deletes.

    ``erased`` are the memories that are gone then, and to which something may have belonged;
    ``after`` is the id that the next step goes on after.
    """

    deletions: Sequence[Deletion]
    erased: Sequence[int]
    after: int = 0


class State(NamedTuple):
    """An erasure as its item has it."""

    # The token of the last step.
    token: Item
    started_at: str
    counts: Mapping[str, int]
    erased: Sequence[int]
    after: int

    @classmethod
    def of(cls, item: Item) -> State:
        return cls(
            token=item[WRITE],
            started_at=item["started_at"]["S"],
            counts={kind: int(item[kind]["N"]) for kind in KINDS if kind in item},
            erased=[int(each["N"]) for each in item.get("erased", {"L": []})["L"]],
            after=int(item["after"]["N"]) if "after" in item else 0,
        )

    @property
    def is_held(self) -> Condition:
        """Of two who are at it, one takes each step; and a step never comes after the last."""
        return Condition("#write_token = :held", {":held": self.token})

    def after_step(self, batch: Batch, token: Item) -> State:
        counts = dict(self.counts)
        for kind, number in counted(batch.deletions).items():
            counts[kind] = counts.get(kind, 0) + number
        return self._replace(
            token=token[WRITE], counts=counts, erased=batch.erased, after=batch.after
        )


def counted(deletions: Sequence[Deletion]) -> dict[str, int]:
    """Return how many deletions there are of each kind."""
    kinds = [each.kind for each in deletions if each.kind is not None]
    return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}

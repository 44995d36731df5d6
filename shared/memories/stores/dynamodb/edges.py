"""The parts of a relation's transaction: a look at each end, then the relation and its mirror."""

from collections.abc import Sequence
from typing import Any

from memories.principal import Principal
from memories.stores.dynamodb import keys, stamps
from memories.stores.dynamodb.expressions import (
    IS_ABSENT,
    IS_THERE,
    NOT_DELETED,
    all_of,
    changeable_by,
    in_status,
    readable_by,
    recorded_at,
)
from memories.stores.dynamodb.failures import CONDITION_FAILED, TransactionCanceled
from memories.stores.dynamodb.items import Item, attributes, key, key_of, record_of
from memories.stores.dynamodb.stamps import Wall
from memories.stores.dynamodb.transactions import Transactions
from memories.stores.port_relations import EndRefused, RelationRecord

# The parts, in this order.
FROM, TO, RELATION = range(3)


class Edges:
    """Parts of transactions on one table."""

    def __init__(self, transactions: Transactions, wall: Wall) -> None:
        self._transactions = transactions
        self._wall = wall

    def checks(self, principal: Principal, from_id: int, to_id: int) -> list[Any]:
        """Return the parts that look at both ends: who relates may change the one it leads from."""
        may_change = all_of(NOT_DELETED, changeable_by(principal.agent_id))
        may_read = all_of(NOT_DELETED, readable_by(principal.agent_id))
        return [
            self._transactions.check(key(principal.user_id, from_id), may_change),
            self._transactions.check(key(principal.user_id, to_id), may_read),
        ]

    def invalidate(
        self, principal: Principal, memory_id: int, at: str, token: Item, is_active: bool
    ) -> Any:
        """Return the part that makes the end that it leads to invalid, or finds that it is."""
        end = key(principal.user_id, memory_id)
        may_change = changeable_by(principal.agent_id)
        if not is_active:
            return self._transactions.check(end, all_of(in_status("invalid"), may_change))
        values = attributes(
            {
                "updated_at": at,
                "updated_sort": keys.moment(at, memory_id),
                "updated_by": principal.agent_id,
                "version": 1,
            }
        )
        change = (
            "SET #status = :invalid, #updated_at = :updated_at, #updated_sort = :updated_sort, "
            "#updated_by = :updated_by, #changed_sort = :changed_sort, "
            "#write_token = :write_token ADD #version :version"
        )
        written = values | token | stamps.changed(memory_id, self._wall())
        bound = {f":{name}": value for name, value in written.items()}
        return self._transactions.update(
            end,
            change,
            bound | {":invalid": {"S": "invalid"}},
            all_of(in_status("active"), may_change),
        )

    def put(
        self, user_id: str, new: RelationRecord, stored: RelationRecord | None, beside: Item
    ) -> list[Any]:
        """Return the parts that put the relation, with further attributes, and its mirror."""
        edge = (new.from_id, new.relation_type, new.to_id)
        item = attributes(new._asdict())
        condition = IS_ABSENT if stored is None else recorded_at(stored.created_at)
        relation = key_of(user_id, keys.relation(*edge)) | item | beside
        mirror = key_of(user_id, keys.mirror(*edge)) | item
        return [self._transactions.put(relation, condition), self._transactions.put(mirror)]

    def delete(self, user_id: str, from_id: int, relation_type: str, to_id: int) -> list[Any]:
        """Return the parts that delete the relation, which must be there, and its mirror."""
        edge = (from_id, relation_type, to_id)
        return [
            self._transactions.delete(key_of(user_id, keys.relation(*edge)), IS_THERE),
            self._transactions.delete(key_of(user_id, keys.mirror(*edge))),
        ]


def check_ends(canceled: TransactionCanceled, ends: Sequence[int]) -> None:
    """Raise EndRefused for the first end whose condition did not hold."""
    for memory_id, code, item in zip(ends, canceled.codes, canceled.items, strict=False):
        if code == CONDITION_FAILED:
            raise EndRefused(memory_id, record_of(item) if item else None)

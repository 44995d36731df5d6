"""Relations in the DynamoDB store: each an item under its first end, and a mirror under the other.

Both are written in one transaction, which holds only if both ends are as they must be.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from memories.errors import StoreUnavailable
from memories.principal import Principal
from memories.stores.dynamodb import keys
from memories.stores.dynamodb.batches import Batches
from memories.stores.dynamodb.edges import RELATION, TO, Edges, check_ends
from memories.stores.dynamodb.expressions import Condition, listed, related_from, related_to
from memories.stores.dynamodb.failures import (
    CONFLICT_TRIES,
    Pause,
    TransactionCanceled,
    failures_sorted,
)
from memories.stores.dynamodb.items import (
    Grants,
    Item,
    attributes,
    is_readable,
    key_of,
    relation_of,
)
from memories.stores.dynamodb.queries import Queries
from memories.stores.dynamodb.stamps import Wall
from memories.stores.dynamodb.tokens import WRITE, new_token
from memories.stores.dynamodb.transactions import Transactions
from memories.stores.port_relations import (
    FOLLOWED,
    EndRefused,
    RelationRecord,
    RelationSelection,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_PREFIXES = {"out": keys.RELATION_PREFIX, "in": keys.MIRROR_PREFIX}
_SHOWN = listed(RelationRecord._fields)
_END = listed(["id", "status", *Grants._fields])


class DynamoDBRelations:
    """Relations in one table."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        pause: Pause,
        workers: Executor,
        *,
        queries: Queries,
        batches: Batches,
        wall: Wall,
    ) -> None:
        self._client = client
        self._table = table
        self._workers = workers
        self._queries = queries
        self._batches = batches
        self._transactions = Transactions(client, table, pause)
        self._edges = Edges(self._transactions, wall)

    def put(
        self, principal: Principal, relation: RelationRecord, invalidated_at: str | None = None
    ) -> tuple[RelationRecord, bool]:
        ends = (relation.from_id, relation.to_id)
        stored: RelationRecord | None = None
        is_active = True
        from_end, to_end = self._edges.checks(principal, *ends)
        # Each try knows what the one before it met.
        for _ in range(CONFLICT_TRIES):
            token = new_token(WRITE)
            new = relation if stored is None else stored._replace(strength=relation.strength)
            if invalidated_at is not None:
                to_end = self._edges.invalidate(
                    principal, relation.to_id, invalidated_at, token, is_active
                )
            put = self._edges.put(principal.user_id, new, stored, token | _made(relation))
            try:
                self._transactions.write([from_end, to_end, *put], token)
            except TransactionCanceled as canceled:
                status = canceled.items[TO].get("status")
                changed = status == {"S": "invalid" if is_active else "active"}
                if invalidated_at is not None and changed:
                    is_active = not is_active
                    check_ends(canceled, ends[:TO])
                    # It may be refused for its grants as well.
                    continue
                check_ends(canceled, ends)
                met = canceled.items[RELATION]
                stored = relation_of(met) if met else None
            else:
                return new, stored is None
        raise StoreUnavailable

    def remove(
        self, principal: Principal, from_id: int, relation_type: str, to_id: int
    ) -> RelationRecord | None:
        at = key_of(principal.user_id, keys.relation(from_id, relation_type, to_id))
        with failures_sorted():
            found = self._client.get_item(TableName=self._table, Key=at, ConsistentRead=True)
        stored = relation_of(found["Item"]) if "Item" in found else None
        parts = [
            *self._edges.checks(principal, from_id, to_id),
            *self._edges.delete(principal.user_id, from_id, relation_type, to_id),
        ]
        try:
            self._transactions.write(parts, new_token(WRITE))
        except TransactionCanceled as canceled:
            check_ends(canceled, (from_id, to_id))
            # An earlier attempt removed it, its answer lost; or it was not there.
            return stored if canceled.retried else None
        return stored

    def listed(
        self, principal: Principal, selection: RelationSelection
    ) -> tuple[list[RelationRecord], int] | None:
        memory_id = selection.memory_id
        found = self._found(
            principal.user_id, [memory_id], selection.direction, selection.relation_type, None
        )[memory_id]
        visible = self._visible(principal, [memory_id, *_others(memory_id, found)])
        if memory_id not in visible:
            return None
        shown = [each for each in found if {each.from_id, each.to_id} <= visible]
        return shown[selection.offset :][: selection.limit], len(shown)

    def around(
        self,
        principal: Principal,
        memory_ids: Sequence[int],
        direction: str = "both",
        relation_type: str | None = None,
    ) -> dict[int, list[RelationRecord]]:
        found = self._found(principal.user_id, memory_ids, direction, relation_type, FOLLOWED)
        others = {near: _others(near, relations) for near, relations in found.items()}
        visible = self._visible(principal, [each for ids in others.values() for each in ids])
        return {
            near: [
                relation
                for relation, other in zip(relations, others[near], strict=True)
                if other in visible
            ]
            for near, relations in found.items()
        }

    def out_of(self, principal: Principal, first_id: int, last_id: int) -> list[RelationRecord]:
        found = self._walk(related_from(principal.user_id, first_id, last_id), None)
        visible = self._visible(principal, [each.to_id for each in found])
        return [each for each in found if each.to_id in visible]

    def add(self, relations: Sequence[tuple[Principal, RelationRecord]]) -> list[bool | EndRefused]:
        results: dict[int, bool | EndRefused] = {}
        for together in _apart([relation for _, relation in relations]):
            added = self._workers.map(lambda number: self._add(*relations[number]), together)
            results |= zip(together, added, strict=True)
        return [results[number] for number in range(len(relations))]

    def _add(self, principal: Principal, relation: RelationRecord) -> bool | EndRefused:
        token = new_token(WRITE)
        parts = [
            *self._edges.checks(principal, relation.from_id, relation.to_id),
            *self._edges.put(principal.user_id, relation, None, token),
        ]
        try:
            self._transactions.write(parts, token)
        except TransactionCanceled as canceled:
            try:
                check_ends(canceled, (relation.from_id, relation.to_id))
            except EndRefused as refused:
                return refused
            if not canceled.items[RELATION]:
                raise StoreUnavailable from canceled
            return False
        return True

    def _found(
        self,
        user_id: str,
        memory_ids: Sequence[int],
        direction: str,
        relation_type: str | None,
        most: int | None,
    ) -> dict[int, list[RelationRecord]]:
        """Return the relations of each memory, of at most so many each way."""
        ways = ("out", "in") if direction == "both" else (direction,)
        wanted = [
            (memory_id, keys.relations_of(_PREFIXES[way], memory_id, relation_type))
            for memory_id in memory_ids
            for way in ways
        ]
        prefixes = [prefix for _, prefix in wanted]
        # A single one needs no other thread.
        run = self._workers.map if len(wanted) > 1 else map
        found: dict[int, list[RelationRecord]] = {memory_id: [] for memory_id in memory_ids}
        answers = run(lambda prefix: self._walk(related_to(user_id, prefix), most), prefixes)
        for (memory_id, _), relations in zip(wanted, answers, strict=True):
            found[memory_id] += relations
        return found

    def _walk(self, among: Condition, most: int | None) -> list[RelationRecord]:
        limit: Item = {} if most is None else {"Limit": most}
        found: list[RelationRecord] = []
        for answer in self._queries.answers(among, _SHOWN, ConsistentRead=True, **limit):
            found += map(relation_of, answer["Items"])
            if most is not None and len(found) >= most:
                break
        return found

    def _visible(self, principal: Principal, memory_ids: Sequence[int]) -> set[int]:
        ids = list(dict.fromkeys(memory_ids))
        found = self._batches.memories(principal.user_id, ids, _END)
        return {each for each in found if is_readable(found[each], principal.agent_id)}


def _made(asked: RelationRecord) -> Item:
    """Return who asks for the relation, and when: what the log is written from."""
    return attributes({"made_at": asked.created_at, "made_by": asked.agent_id})


def _others(near: int, relations: Sequence[RelationRecord]) -> list[int]:
    return [each.from_id if each.to_id == near else each.to_id for each in relations]


def _apart(relations: Sequence[RelationRecord]) -> list[list[int]]:
    """Return the places of the relations in groups, in each of which no memory is met twice.

    Two transactions at once that look at one item are in each other's way.
    """
    groups: list[list[int]] = []
    met: dict[int, int] = {}
    for number, relation in enumerate(relations):
        ends = (relation.from_id, relation.to_id)
        group = max(met.get(end, -1) for end in ends) + 1
        met |= dict.fromkeys(ends, group)
        if group == len(groups):
            groups.append([])
        groups[group].append(number)
    return groups

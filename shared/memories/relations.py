"""The use cases of relations: how memories relate to one another, and what is around one."""

from collections.abc import Sequence
from functools import partial

from memories.clock import Clock
from memories.errors import InvalidRelation, MemoryNotFound, RelationNotFound, WriteConflict
from memories.fields import timestamp
from memories.permission import changeable, readable
from memories.principal import READ, WRITE, Principal
from memories.relation_models import (
    SUPERSEDES,
    RelatedMemories,
    RelatedMemory,
    RelatedQuery,
    Relation,
    RelationDraft,
    RelationPage,
    RelationQuery,
)
from memories.room import deliverable
from memories.stores.port import Store
from memories.stores.port_relations import EndRefused, RelationRecord, RelationSelection
from memories.views import View, memory_of


class Relations:
    """Relates memories on behalf of a principal, and follows their relations.

    A relation is part of no memory's version. It is shown to who may read both of its ends.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def relate(
        self,
        principal: Principal,
        from_id: int,
        relation_type: str,
        to_id: int,
        draft: RelationDraft,
    ) -> tuple[Relation, bool]:
        """Relate a memory that may be changed to one that may be read; say whether that is new.

        The same relation again sets its strength. ``invalidate`` also changes the status of the
        second memory, if it may be changed. Raises InvalidRelation, MemoryNotFound, NotPermitted.
        """
        principal.require(WRITE)
        _check_ends(from_id, to_id)
        if draft.invalidate and relation_type != SUPERSEDES:
            raise InvalidRelation("invalidate", f"only {SUPERSEDES} can invalidate")
        now = timestamp(self._clock())
        relation = RelationRecord(
            from_id, relation_type, to_id, draft.strength, now, principal.agent_id
        )
        try:
            stored, is_new = self._store.relations.put(
                principal, relation, now if draft.invalidate else None
            )
        except EndRefused as refused:
            _explain(principal, refused, from_id, changes_both=draft.invalidate)
            raise WriteConflict from refused
        return _relation_of(stored), is_new

    def unrelate(
        self, principal: Principal, from_id: int, relation_type: str, to_id: int
    ) -> Relation:
        """Remove a relation of a memory that may be changed, and return it.

        Raises InvalidRelation, MemoryNotFound, NotPermitted, RelationNotFound.
        """
        principal.require(WRITE)
        _check_ends(from_id, to_id)
        try:
            removed = self._store.relations.remove(principal, from_id, relation_type, to_id)
        except EndRefused as refused:
            _explain(principal, refused, from_id, changes_both=False)
            raise WriteConflict from refused
        if removed is None:
            raise RelationNotFound
        return _relation_of(removed)

    def listed(self, principal: Principal, memory_id: int, query: RelationQuery) -> RelationPage:
        """Return one page of a memory's relations. Raises MemoryNotFound."""
        principal.require(READ)
        selection = RelationSelection(
            memory_id, query.direction, query.relation_type, query.limit, query.offset
        )
        found = self._store.relations.listed(principal, selection)
        if found is None:
            raise MemoryNotFound(memory_id)
        records, total = found
        return RelationPage.model_construct(
            items=[_relation_of(record) for record in records],
            total=total,
            limit=query.limit,
            offset=query.offset,
            has_more=query.offset + len(records) < total,
        )

    def around(self, principal: Principal, memory_id: int, query: RelatedQuery) -> RelatedMemories:
        """Return the memories around one, and mark exactly them as accessed.

        Each comes once, at its least depth, with all relations that led to it from there; the
        memory itself does not come. Raises MemoryNotFound.
        """
        principal.require(READ)
        readable(self._store.get(principal, memory_id), principal, memory_id)
        # One more than is shown tells whether there are more.
        reached = self._reached(principal, memory_id, query, query.limit + 1)
        ids = list(reached)[: query.limit]
        now = timestamp(self._clock())
        fit = partial(deliverable, view=View(full=False, related_to=lambda ids: {}))
        records = self._store.access_all(principal, ids, now, fit) if ids else []
        items = [
            RelatedMemory.model_construct(
                memory=memory_of(record),
                depth=reached[record.id][0],
                relations=[_relation_of(relation) for relation in reached[record.id][1]],
            )
            for record in records
        ]
        return RelatedMemories.model_construct(items=items, has_more=len(items) < len(reached))

    def related_ids(self, principal: Principal, memory_ids: Sequence[int]) -> dict[int, list[int]]:
        """Return the ids of the memories that each is related to, either way, in ascending order.

        Along the first hundred relations each way.
        """
        if not memory_ids:
            return {}
        around = self._store.relations.around(principal, memory_ids)
        return {
            near: sorted({_other_end(relation, near) for relation in relations})
            for near, relations in around.items()
        }

    def _reached(
        self, principal: Principal, memory_id: int, query: RelatedQuery, most: int
    ) -> dict[int, tuple[int, list[RelationRecord]]]:
        """Return the first ``most`` memories by id, breadth first: depth, and what led there."""
        reached: dict[int, tuple[int, list[RelationRecord]]] = {}
        border = [memory_id]
        for depth in range(1, query.depth + 1):
            if not border or len(reached) >= most:
                break
            around = self._store.relations.around(
                principal, border, query.direction, query.relation_type
            )
            led: dict[int, list[RelationRecord]] = {}
            for near in border:
                for relation in around[near]:
                    far = _other_end(relation, near)
                    if far != memory_id and far not in reached:
                        led.setdefault(far, []).append(relation)
            border = list(led)[: most - len(reached)]
            reached |= {far: (depth, led[far]) for far in border}
        return reached


def _check_ends(from_id: int, to_id: int) -> None:
    if from_id == to_id:
        raise InvalidRelation("to_id", "must be another memory than the one that relates to it")


def _explain(
    principal: Principal, refused: EndRefused, from_id: int, *, changes_both: bool
) -> None:
    """Raise what the caller is told of a refused end."""
    if changes_both or refused.memory_id == from_id:
        changeable(refused.current, principal, refused.memory_id, None)
    else:
        readable(refused.current, principal, refused.memory_id)


def _other_end(relation: RelationRecord, near: int) -> int:
    return relation.from_id if relation.to_id == near else relation.to_id


def _relation_of(record: RelationRecord) -> Relation:
    return Relation.model_construct(**record._asdict())

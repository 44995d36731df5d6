"""Relations in the SQLite store: between rows, in a table of their own."""

from collections.abc import Sequence
from typing import Any

from memories.principal import Principal
from memories.stores.port_relations import (
    FOLLOWED,
    EndRefused,
    RelationRecord,
    RelationSelection,
)
from memories.stores.sqlite.log import SqliteLog
from memories.stores.sqlite.pages import CHANGEABLE, NOT_DELETED, READABLE
from memories.stores.sqlite.rows import find
from memories.stores.sqlite.schema import ID_BITS
from memories.stores.sqlite.session import Session

_COLUMNS = "from_row, relation_type, to_row, strength, created_at, agent_id"
_KEY = "from_row = :from_row AND relation_type = :relation_type AND to_row = :to_row"

# A relation's two rows, the near one first: leading out of it, and into it.
_ENDS = {"out": ("from_row", "to_row"), "in": ("to_row", "from_row")}
_NO_LIMIT = -1


class SqliteRelations:
    """Relations of one data file."""

    def __init__(self, session: Session, log: SqliteLog) -> None:
        self._session = session
        self._log = log

    def put(
        self, principal: Principal, relation: RelationRecord, invalidated_at: str | None = None
    ) -> tuple[RelationRecord, bool]:
        with self._session.transaction(durable=True):
            to_rule = READABLE if invalidated_at is None else CHANGEABLE
            rows = self._ends(principal, relation.from_id, relation.to_id, to_rule)
            values = relation._asdict() | rows
            is_new = not self._session.all(f"SELECT 1 FROM memory_relations WHERE {_KEY}", values)
            stored = self._session.one(
                f"INSERT INTO memory_relations ({_COLUMNS}) VALUES (:from_row, :relation_type, "
                ":to_row, :strength, :created_at, :agent_id) "
                f"ON CONFLICT DO UPDATE SET strength = :strength RETURNING {_COLUMNS}",
                values,
            )
            to_row, agent_id = rows["to_row"], principal.agent_id
            if invalidated_at is not None and self._session.all(
                "UPDATE memories SET status = 'invalid', version = version + 1, updated_at = :at "
                "WHERE row_id = :to_row AND status = 'active' RETURNING 1",
                rows | {"at": invalidated_at},
            ):
                self._log.add([to_row], "update", agent_id, invalidated_at)
            self._log.add([to_row], "reference", agent_id, relation.created_at)
            return _relation_of(stored), is_new

    def remove(
        self, principal: Principal, from_id: int, relation_type: str, to_id: int
    ) -> RelationRecord | None:
        with self._session.transaction(durable=True):
            rows = self._ends(principal, from_id, to_id, READABLE)
            removed = self._session.one(
                f"DELETE FROM memory_relations WHERE {_KEY} RETURNING {_COLUMNS}",
                rows | {"relation_type": relation_type},
            )
            return _relation_of(removed) if removed else None

    def listed(
        self, principal: Principal, selection: RelationSelection
    ) -> tuple[list[RelationRecord], int] | None:
        with self._session.transaction(writes=False):
            near = self._row(principal, selection.memory_id, f"{NOT_DELETED} AND {READABLE}")
            if near is None:
                return None
            visible = _visible(selection.direction, selection.relation_type)
            values = self._values(principal, near, selection.relation_type) | {
                "followed": _NO_LIMIT,
                "limit": selection.limit,
                "offset": selection.offset,
            }
            (total,) = self._session.one(f"SELECT count(*) FROM ({visible})", values)
            rows = self._session.all(f"{visible} LIMIT :limit OFFSET :offset", values)
            return [_relation_of(row) for row in rows], total

    def around(
        self,
        principal: Principal,
        memory_ids: Sequence[int],
        direction: str = "both",
        relation_type: str | None = None,
    ) -> dict[int, list[RelationRecord]]:
        visible = _visible(direction, relation_type)
        with self._session.transaction(writes=False):
            found: dict[int, list[RelationRecord]] = {}
            for memory_id in memory_ids:
                near = self._row(principal, memory_id, "TRUE")
                values = self._values(principal, near, relation_type) | {"followed": FOLLOWED}
                rows = self._session.all(visible, values)
                found[memory_id] = [_relation_of(row) for row in rows]
            return found

    def out_of(self, principal: Principal, first_id: int, last_id: int) -> list[RelationRecord]:
        columns = ", ".join(f"edge.{name}" for name in _COLUMNS.split(", "))
        number = "(SELECT user_number FROM users WHERE user_id = :user_id)"
        with self._session.transaction(writes=False):
            rows = self._session.all(
                f"SELECT {columns} FROM memory_relations AS edge "
                "JOIN memories ON memories.row_id = edge.to_row "
                f"WHERE from_row BETWEEN ({number} << {ID_BITS}) + :first_id "
                f"AND ({number} << {ID_BITS}) + :last_id AND {NOT_DELETED} AND {READABLE} "
                "ORDER BY edge.from_row, edge.relation_type, edge.to_row",
                {
                    "user_id": principal.user_id,
                    "agent_id": principal.agent_id,
                    "first_id": first_id,
                    "last_id": last_id,
                },
            )
        return [_relation_of(row) for row in rows]

    def add(self, relations: Sequence[tuple[Principal, RelationRecord]]) -> list[bool | EndRefused]:
        with self._session.transaction(durable=True):
            return [self._add(principal, relation) for principal, relation in relations]

    def _add(self, principal: Principal, relation: RelationRecord) -> bool | EndRefused:
        try:
            rows = self._ends(principal, relation.from_id, relation.to_id, READABLE)
        except EndRefused as refused:
            return refused
        added = self._session.all(
            f"INSERT INTO memory_relations ({_COLUMNS}) VALUES (:from_row, :relation_type, "
            ":to_row, :strength, :created_at, :agent_id) ON CONFLICT DO NOTHING RETURNING 1",
            relation._asdict() | rows,
        )
        return bool(added)

    def _ends(self, principal: Principal, from_id: int, to_id: int, to_rule: str) -> dict[str, Any]:
        """Return the rows of both ends. Raises EndRefused."""
        rows = {}
        for name, memory_id, rule in (
            ("from_row", from_id, CHANGEABLE),
            ("to_row", to_id, to_rule),
        ):
            rows[name] = self._row(principal, memory_id, f"{NOT_DELETED} AND {rule}")
            if rows[name] is None:
                current = find(self._session.connection, principal.user_id, memory_id)
                raise EndRefused(memory_id, current)
        return rows

    def _row(self, principal: Principal, memory_id: int, condition: str) -> int | None:
        found = self._session.one(
            f"SELECT row_id FROM memories WHERE user_id = :user_id AND id = :id AND {condition}",
            {
                "user_id": principal.user_id,
                "agent_id": principal.agent_id,
                "id": memory_id,
            },
        )
        return found[0] if found else None

    def _values(
        self, principal: Principal, near: int | None, relation_type: str | None
    ) -> dict[str, Any]:
        return {
            "user_id": principal.user_id,
            "agent_id": principal.agent_id,
            "near": near,
            "relation_type": relation_type,
        }


def _visible(direction: str, relation_type: str | None) -> str:
    """Select the relations of the row ``near`` whose other end may be read, in their order."""
    ways = ("out", "in") if direction == "both" else (direction,)
    typed = "" if relation_type is None else "AND relation_type = :relation_type "
    each = " UNION ALL ".join(
        f"SELECT * FROM (SELECT {number} AS way, {far} AS far, {_COLUMNS} FROM memory_relations "
        f"WHERE {near} = :near {typed}ORDER BY relation_type, {far} LIMIT :followed)"
        for number, (near, far) in enumerate(_ENDS[way] for way in ways)
    )
    columns = ", ".join(f"edge.{name}" for name in _COLUMNS.split(", "))
    return (
        f"SELECT {columns} FROM ({each}) AS edge JOIN memories ON memories.row_id = edge.far "
        f"WHERE {NOT_DELETED} AND {READABLE} ORDER BY edge.way, edge.relation_type, edge.far"
    )


def _relation_of(row: Sequence[Any]) -> RelationRecord:
    relation = RelationRecord._make(row)
    return relation._replace(from_id=_id_in(relation.from_id), to_id=_id_in(relation.to_id))


def _id_in(row_id: int) -> int:
    return row_id & ((1 << ID_BITS) - 1)

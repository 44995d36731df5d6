"""The SQL of a page: how many records match, and which are on it.

The records of a page are found in one of two ways. Few matches are all looked up and sorted; of
many, the first in the order are found soonest by going along the order and passing over the rest.
"""

import sqlite3
from typing import Any

from memories.principal import Principal
from memories.stores.port import Selection
from memories.stores.sqlite.schema import (
    FACET_BITS,
    ID_BITS,
    PRIVATE_BIT,
    STATUS_CODES,
    TYPE_CODES,
)

# The full-text index holds sequences of three characters; shorter texts are looked for by a scan.
_TRIGRAM = 3
# The index takes these for one another.
_ALIKE = set("\ufffd\ufffe\uffff")

# What a search is known by.
_SEARCH = ("user_id", "agent_id", "status", "memory_type", "tag", "text")

# How many searches' totals are remembered.
_MOST_KNOWN = 64

_ORDER = {
    "id": "id",
    "created_at": "created_at DESC, id DESC",
    "updated_at": "updated_at DESC, id DESC",
    # NULL sorts below every text, so never accessed comes last.
    "last_accessed_at": "last_accessed_at DESC, id DESC",
}

# To everyone but a listing of the deleted, a deleted memory is not there.
NOT_DELETED = "status <> 'deleted'"

# What the agent may read: what all may, what it made, and what is shared with it.
_SHARED = """
    EXISTS (
        SELECT 1 FROM memory_grants AS granted WHERE granted.user_id = :user_id
        AND granted.agent_id = :agent_id AND granted.row_id = memories.row_id
    )
"""
READABLE = f"(reader IN ('', :agent_id) OR {_SHARED})"
CHANGEABLE = f"(memories.agent_id = :agent_id OR (NOT read_only AND {READABLE}))"

_ALL = "SELECT coalesce(sum(memories), 0) FROM memory_counts WHERE user_id = :user_id AND tag = ''"
_FIRST_ENTRY = f"(SELECT user_number << {ID_BITS + FACET_BITS} FROM users WHERE user_id = :user_id)"


class Totals:
    """Totals of searches, known until a memory changes.

    Counting the matches of a common text is most of the work of its page, and the pages of one
    search follow one another.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str | None, ...], int] = {}
        self._version = 0

    def forget(self) -> None:
        """Be told that a memory changed, on this connection."""
        self._known.clear()

    def of(
        self, connection: sqlite3.Connection, selection: Selection, values: dict[str, Any]
    ) -> int:
        """Return the number of matches, within the transaction that is open."""
        # It changes whenever another connection writes anything.
        version = _number(connection, "PRAGMA data_version", {})
        if version != self._version or len(self._known) >= _MOST_KNOWN:
            self._known.clear()
            self._version = version
        search = tuple(values[name] for name in _SEARCH)
        if search not in self._known:
            self._known[search] = _number(connection, _count(selection), values)
        return self._known[search]


def page_of(
    connection: sqlite3.Connection,
    totals: Totals,
    principal: Principal,
    selection: Selection,
    columns: str,
) -> tuple[list[tuple[Any, ...]], int]:
    """Return the page, each record as its row id and ``columns``, and the number of all matches."""
    values = _values(principal, selection)
    total = totals.of(connection, selection, values)
    if selection.offset >= total:
        return [], total
    # To find the page along the order, some everything / total records are passed over for each.
    everything = _number(connection, _ALL, values)
    few = total * total <= (selection.offset + selection.limit) * everything
    # The plus keeps the indexes of the orders, which begin with the user, out of this.
    source = f"row_id IN ({_matches(selection)}) AND +user_id" if few else "user_id"
    rows = connection.execute(
        f"SELECT row_id, {columns} FROM memories "
        f"WHERE {source} = :user_id AND {_row_filter(selection)} "
        f"ORDER BY {_ORDER[selection.sort]} LIMIT :limit OFFSET :offset",
        values,
    ).fetchall()
    return rows, total


def total_of(
    connection: sqlite3.Connection, totals: Totals, principal: Principal, selection: Selection
) -> int:
    """Return the number of all matches."""
    return totals.of(connection, selection, _values(principal, selection))


def _values(principal: Principal, selection: Selection) -> dict[str, Any]:
    return {
        "user_id": principal.user_id,
        "agent_id": principal.agent_id,
        "status": selection.status,
        "memory_type": selection.memory_type,
        "tag": selection.tag,
        "text": selection.text,
        "limit": selection.limit,
        "offset": selection.offset,
        "phrase": None if selection.text is None else '"' + selection.text.replace('"', '""') + '"',
    }


def _count(selection: Selection) -> str:
    if selection.text is None:
        tag = "''" if selection.tag is None else ":tag"
        kept = (
            "SELECT coalesce(sum(memories), 0) FROM memory_counts WHERE user_id = :user_id "
            f"AND tag = {tag} AND reader IN ('', :agent_id) AND {_facets(selection)}"
        )
        return f"SELECT ({kept}) + ({_count_shared(selection)})"
    if _is_indexed(selection.text):
        return f"SELECT count(*) FROM ({_entries(selection)})"
    return f"SELECT count(*) FROM memories WHERE user_id = :user_id AND {_row_filter(selection)}"


def _count_shared(selection: Selection) -> str:
    """Count the matches that only being shared lets the agent read."""
    has_tag = "" if selection.tag is None else f" AND {_has_tag('memories.row_id')}"
    return (
        "SELECT count(*) FROM memory_grants AS granted JOIN memories USING (row_id) "
        "WHERE granted.user_id = :user_id AND granted.agent_id = :agent_id "
        f"AND reader NOT IN ('', :agent_id) AND {_facets(selection)}{has_tag}"
    )


def _matches(selection: Selection) -> str:
    """Select the row ids of the matches, or of some more, from the narrowest index there is."""
    if selection.text is not None and _is_indexed(selection.text):
        return _entries(selection)
    if selection.tag is not None:
        return "SELECT row_id FROM memory_tags WHERE user_id = :user_id AND tag = :tag"
    facets = _facets(selection)
    if selection.status is None:
        # Named one by one, the statuses are looked up in the index, and with them the type.
        facets += " AND status IN ('active', 'invalid')"
    return f"SELECT row_id FROM memories WHERE user_id = :user_id AND {facets}"


def _is_indexed(text: str) -> bool:
    return len(text) >= _TRIGRAM and _ALIKE.isdisjoint(text)


def _entries(selection: Selection) -> str:
    """Select the row ids of the matches from the full-text index alone."""
    clauses = [
        "memory_search MATCH :phrase",
        f"rowid BETWEEN {_FIRST_ENTRY} AND {_FIRST_ENTRY} + (1 << {ID_BITS + FACET_BITS}) - 1",
        f"rowid & 3 <> {STATUS_CODES['deleted']}"
        if selection.status is None
        else f"rowid & 3 = {STATUS_CODES[selection.status]}",
    ]
    if selection.memory_type is not None:
        clauses.append(f"rowid >> 2 & 3 = {TYPE_CODES[selection.memory_type]}")
    if selection.tag is not None:
        clauses.append(_has_tag(f"memory_search.rowid >> {FACET_BITS}"))
    readable = f"SELECT 1 FROM memories WHERE row_id = memory_search.rowid >> {FACET_BITS}"
    clauses.append(f"(rowid & {PRIVATE_BIT} = 0 OR EXISTS ({readable} AND {READABLE}))")
    return f"SELECT rowid >> {FACET_BITS} FROM memory_search WHERE {' AND '.join(clauses)}"


def _row_filter(selection: Selection) -> str:
    clauses = [_facets(selection), READABLE]
    if selection.tag is not None:
        clauses.append(_has_tag("memories.row_id"))
    if selection.text is not None:
        clauses.append("instr(search_text, :text)")
    return " AND ".join(clauses)


def _facets(selection: Selection) -> str:
    status = NOT_DELETED if selection.status is None else "status = :status"
    kind = "" if selection.memory_type is None else " AND memory_type = :memory_type"
    return status + kind


def _has_tag(row_id: str) -> str:
    return (
        "EXISTS (SELECT 1 FROM memory_tags "
        f"WHERE user_id = :user_id AND tag = :tag AND row_id = {row_id})"
    )


def _number(connection: sqlite3.Connection, statement: str, values: dict[str, Any]) -> int:
    (number,) = connection.execute(statement, values).fetchone()
    assert isinstance(number, int)
    return number

"""The requests that have a key, in the SQLite store. Each call is part of a create."""

import sqlite3

from memories.principal import Principal
from memories.stores.port_idempotency import AlreadyDone, FirstRequest, KeyedRequest

# Each create with a key adds one, so this keeps up, and no create has much to clear away.
_MOST_CLEARED = 100


def require_new(
    connection: sqlite3.Connection, principal: Principal, request: KeyedRequest
) -> None:
    """Raise AlreadyDone if a request with the key is kept and not expired."""
    row = connection.execute(
        "SELECT fingerprint, first_id, created_at FROM keyed_requests "
        "WHERE user_id = ? AND agent_id = ? AND key = ? AND expires_at > ?",
        (principal.user_id, principal.agent_id, request.key, request.at),
    ).fetchone()
    if row:
        raise AlreadyDone(FirstRequest(*row))


def keep(
    connection: sqlite3.Connection,
    principal: Principal,
    request: KeyedRequest,
    first_id: int,
    created_at: str,
) -> None:
    """Keep a request beside the memories that it made, and forget some that are expired."""
    connection.execute(
        "DELETE FROM keyed_requests WHERE (user_id, agent_id, key) IN ("
        "SELECT user_id, agent_id, key FROM keyed_requests WHERE expires_at <= ? LIMIT ?)",
        (request.at, _MOST_CLEARED),
    )
    connection.execute(
        "INSERT OR REPLACE INTO keyed_requests "
        "(user_id, agent_id, key, fingerprint, first_id, created_at, expires_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            principal.user_id,
            principal.agent_id,
            request.key,
            request.fingerprint,
            first_id,
            created_at,
            request.expires_at,
        ),
    )

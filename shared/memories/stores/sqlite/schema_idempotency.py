"""The schema of the keyed requests in the SQLite store."""

IDEMPOTENCY = (
    """
    CREATE TABLE keyed_requests (
        user_id TEXT NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        agent_id TEXT NOT NULL,
        key TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        first_id INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        expires_at INTEGER NOT NULL,
        PRIMARY KEY (user_id, agent_id, key)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX by_expires_at ON keyed_requests (expires_at)",
)

"""The schema of the agents in the SQLite store, and of what is known of their users."""

ACCOUNTS = (
    "ALTER TABLE users ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}'",
    """
    CREATE TABLE agents (
        user_id TEXT NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        agent_id TEXT NOT NULL,
        created_at TEXT NOT NULL,
        name TEXT,
        capabilities TEXT NOT NULL DEFAULT '[]',
        UNIQUE (user_id, agent_id)
    ) STRICT
    """,
    # Those that made memories before agents were kept.
    """
    INSERT INTO agents (user_id, agent_id, created_at)
    SELECT user_id, agent_id, min(created_at) FROM memories GROUP BY user_id, agent_id
    """,
)

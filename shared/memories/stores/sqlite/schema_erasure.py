"""The schema of erasures in the SQLite store."""

ERASURES = (
    # What has been erased so far, of a user, or of one agent of theirs. No agent's id is empty:
    # there it stands for all of the user. It outlives the user's row, so it does not refer to it.
    # Once all rows are gone, the full-text index is merged, for until then it holds their texts.
    """
    CREATE TABLE erasures (
        user_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        started_at TEXT NOT NULL,
        erased TEXT NOT NULL DEFAULT '{}',
        merging INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (user_id, agent_id)
    ) STRICT, WITHOUT ROWID
    """,
)

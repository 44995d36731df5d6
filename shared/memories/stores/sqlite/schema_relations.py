"""The schema of relations between memories in the SQLite store."""

RELATIONS = (
    # A row id holds its user and its id, in this order: so rows of one memory sort by the ids of
    # the others.
    """
    CREATE TABLE memory_relations (
        from_row INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
        relation_type TEXT NOT NULL,
        to_row INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
        strength REAL NOT NULL,
        created_at TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        PRIMARY KEY (from_row, relation_type, to_row)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX relations_to_memory ON memory_relations (to_row, relation_type, from_row)",
)

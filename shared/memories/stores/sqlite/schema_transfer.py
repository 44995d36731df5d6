"""The schema of what is known of records that came from elsewhere."""

ORIGINS = (
    # Only of those that could not have the id that they came with: the others are known by it.
    """
    CREATE TABLE memory_origins (
        user_id TEXT NOT NULL,
        origin TEXT NOT NULL,
        row_id INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
        PRIMARY KEY (user_id, origin)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX origin_of_memory ON memory_origins (row_id)",
)

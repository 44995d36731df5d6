"""The schema of the access log in the SQLite store."""

ACCESS_LOG = (
    # An entry's number grows with its time. So new entries all go to the end of the table, and the
    # oldest, which expire first, are found at its beginning.
    """
    CREATE TABLE memory_access_log (
        entry INTEGER PRIMARY KEY,
        row_id INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
        accessed_at TEXT NOT NULL,
        access_type TEXT NOT NULL,
        agent_id TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX log_of_memory ON memory_access_log (row_id)",
)

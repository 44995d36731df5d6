"""The schema of the SQLite store, as the steps that lead to it.

``PRAGMA user_version`` counts the steps a file has taken. A released step is never edited: what
comes after is a further step.
"""

# "memo", in the file's header: tells a data file of this product from any other SQLite file.
APPLICATION_ID = 0x6D656D6F

_MEMORIES = (
    # last_id is the user's atomic counter; an id once given is not given again.
    """
    CREATE TABLE users (
        user_id TEXT PRIMARY KEY,
        created_at TEXT NOT NULL,
        last_id INTEGER NOT NULL
    ) STRICT
    """,
    # row_id is declared, since the full-text index refers to it and VACUUM renumbers rows that
    # have no declared key.
    """
    CREATE TABLE memories (
        row_id INTEGER PRIMARY KEY,
        user_id TEXT NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        id INTEGER NOT NULL,
        content TEXT NOT NULL,
        tags TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        last_accessed_at TEXT,
        memory_type TEXT NOT NULL,
        status TEXT NOT NULL,
        version INTEGER NOT NULL,
        agent_id TEXT NOT NULL,
        search_text TEXT NOT NULL,
        UNIQUE (user_id, id)
    ) STRICT
    """,
    "CREATE INDEX by_created_at ON memories (user_id, created_at, id)",
    "CREATE INDEX by_updated_at ON memories (user_id, updated_at, id)",
    "CREATE INDEX by_last_accessed_at ON memories (user_id, last_accessed_at, id)",
    "CREATE INDEX by_status ON memories (user_id, status, memory_type)",
    # The record holds its tags in order; this table finds records by one of them.
    """
    CREATE TABLE memory_tags (
        user_id TEXT NOT NULL,
        tag TEXT NOT NULL,
        row_id INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
        PRIMARY KEY (user_id, tag, row_id)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX tags_of_memory ON memory_tags (row_id)",
    # search_text is folded already, so the index compares it as it is.
    """
    CREATE VIRTUAL TABLE memory_search USING fts5 (
        search_text, content = 'memories', content_rowid = 'row_id',
        tokenize = 'trigram case_sensitive 1'
    )
    """,
    """
    CREATE TRIGGER memories_inserted AFTER INSERT ON memories BEGIN
        INSERT INTO memory_search (rowid, search_text) VALUES (new.row_id, new.search_text);
    END
    """,
    """
    CREATE TRIGGER memories_deleted AFTER DELETE ON memories BEGIN
        INSERT INTO memory_search (memory_search, rowid, search_text)
        VALUES ('delete', old.row_id, old.search_text);
    END
    """,
    """
    CREATE TRIGGER memories_rewritten AFTER UPDATE OF search_text ON memories BEGIN
        INSERT INTO memory_search (memory_search, rowid, search_text)
        VALUES ('delete', old.row_id, old.search_text);
        INSERT INTO memory_search (rowid, search_text) VALUES (new.row_id, new.search_text);
    END
    """,
)

MIGRATIONS = (_MEMORIES,)

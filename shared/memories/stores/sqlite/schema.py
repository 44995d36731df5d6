"""The schema of the memories in the SQLite store, and of the users they belong to."""

# A record's row id is the number of its user above ID_BITS, and its id below; its entry in the
# full-text index has the row id above FACET_BITS, and below whether it is private, its type and
# its status. So a search keeps to one user, status and type, and to what all of the user's agents
# may read, by the number of the entry, without a look at the record.
ID_BITS = 32
FACET_BITS = 5
PRIVATE_BIT = 16
STATUS_CODES = {"active": 0, "invalid": 1, "deleted": 2}
TYPE_CODES = {"preference": 0, "fact": 1, "identity": 2, "event": 3}


def _code(column: str, codes: dict[str, int]) -> str:
    cases = " ".join(f"WHEN '{name}' THEN {code}" for name, code in codes.items())
    return f"CASE {column} {cases} END"


def _counted(row: str, tag: str) -> str:
    return f"""
        INSERT INTO memory_counts (user_id, tag, status, memory_type, reader, memories)
        VALUES ({row}.user_id, {tag}, {row}.status, {row}.memory_type, {row}.reader, 1)
        ON CONFLICT DO UPDATE SET memories = memories + 1;
    """


def _uncounted(row: str, tag: str) -> str:
    # A tag that no record has any more is forgotten, since it may be personal.
    of_row = f"""
        user_id = {row}.user_id AND tag = {tag}
        AND status = {row}.status AND memory_type = {row}.memory_type AND reader = {row}.reader
    """
    return f"""
        UPDATE memory_counts SET memories = memories - 1 WHERE {of_row};
        DELETE FROM memory_counts WHERE {of_row} AND memories = 0;
    """


_ADD_ENTRY = """
    INSERT INTO memory_search (rowid, search_text) VALUES (new.search_id, new.search_text);
"""
_REMOVE_ENTRY = """
    INSERT INTO memory_search (memory_search, rowid, search_text)
    VALUES ('delete', old.search_id, old.search_text);
"""

MEMORIES = (
    # last_id is the user's atomic counter; an id once given is not given again.
    """
    CREATE TABLE users (
        user_number INTEGER PRIMARY KEY,
        user_id TEXT NOT NULL UNIQUE,
        created_at TEXT NOT NULL,
        last_id INTEGER NOT NULL
    ) STRICT
    """,
    f"""
    CREATE TABLE memories (
        row_id INTEGER PRIMARY KEY,
        user_id TEXT NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        id INTEGER NOT NULL CHECK (id < 1 << {ID_BITS}),
        content TEXT NOT NULL,
        tags TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        last_accessed_at TEXT,
        memory_type TEXT NOT NULL,
        status TEXT NOT NULL,
        version INTEGER NOT NULL,
        agent_id TEXT NOT NULL,
        importance INTEGER NOT NULL,
        category TEXT,
        source TEXT,
        access_count INTEGER NOT NULL DEFAULT 0,
        is_public INTEGER NOT NULL,
        read_only INTEGER NOT NULL,
        shared_with_agents TEXT NOT NULL,
        search_text TEXT NOT NULL,
        -- Who may read it, besides those it is shared with: all ('') or its maker.
        reader TEXT NOT NULL AS (CASE WHEN is_public THEN '' ELSE agent_id END),
        search_id INTEGER NOT NULL AS (
            (row_id << {FACET_BITS})
            + {PRIVATE_BIT} * (NOT is_public)
            + 4 * {_code("memory_type", TYPE_CODES)}
            + {_code("status", STATUS_CODES)}
        ),
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
        status TEXT NOT NULL,
        memory_type TEXT NOT NULL,
        reader TEXT NOT NULL,
        PRIMARY KEY (user_id, tag, row_id)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX tags_of_memory ON memory_tags (row_id)",
    # Which agents a memory is shared with; it is looked up where the memory is not public.
    """
    CREATE TABLE memory_grants (
        user_id TEXT NOT NULL,
        agent_id TEXT NOT NULL,
        row_id INTEGER NOT NULL REFERENCES memories (row_id) ON DELETE CASCADE,
        PRIMARY KEY (user_id, agent_id, row_id)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX grants_of_memory ON memory_grants (row_id)",
    # How many records there are of each kind, since counting them takes longer the more there
    # are. The empty tag, which no record has, stands for all of the user's.
    """
    CREATE TABLE memory_counts (
        user_id TEXT NOT NULL REFERENCES users (user_id) ON DELETE CASCADE,
        tag TEXT NOT NULL,
        status TEXT NOT NULL,
        memory_type TEXT NOT NULL,
        reader TEXT NOT NULL,
        memories INTEGER NOT NULL,
        PRIMARY KEY (user_id, tag, status, memory_type, reader)
    ) STRICT, WITHOUT ROWID
    """,
    # search_text is folded already, so the index compares it as it is.
    """
    CREATE VIRTUAL TABLE memory_search USING fts5 (
        search_text, content = '', tokenize = 'trigram case_sensitive 1'
    )
    """,
    f"""
    CREATE TRIGGER memory_inserted AFTER INSERT ON memories BEGIN
        {_counted("new", "''")}
        {_ADD_ENTRY}
    END
    """,
    f"""
    CREATE TRIGGER memory_deleted AFTER DELETE ON memories BEGIN
        {_uncounted("old", "''")}
        {_REMOVE_ENTRY}
    END
    """,
    f"""
    CREATE TRIGGER memory_rewritten
    AFTER UPDATE OF search_text, status, memory_type, is_public ON memories
    BEGIN
        {_REMOVE_ENTRY}
        {_ADD_ENTRY}
    END
    """,
    f"""
    CREATE TRIGGER memory_moved
    AFTER UPDATE OF status, memory_type, is_public ON memories BEGIN
        {_uncounted("old", "''")}
        {_counted("new", "''")}
        UPDATE memory_tags
        SET status = new.status, memory_type = new.memory_type, reader = new.reader
        WHERE row_id = new.row_id;
    END
    """,
    f"""
    CREATE TRIGGER tag_inserted AFTER INSERT ON memory_tags BEGIN
        {_counted("new", "new.tag")}
    END
    """,
    f"""
    CREATE TRIGGER tag_deleted AFTER DELETE ON memory_tags BEGIN
        {_uncounted("old", "old.tag")}
    END
    """,
    f"""
    CREATE TRIGGER tag_moved
    AFTER UPDATE OF status, memory_type, reader ON memory_tags BEGIN
        {_uncounted("old", "old.tag")}
        {_counted("new", "new.tag")}
    END
    """,
)

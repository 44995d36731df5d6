"""What the lifecycle keeps in the SQLite store."""

LIFECYCLE = (
    # When it was retired, and when its importance was last lowered.
    "ALTER TABLE memories ADD COLUMN deleted_at TEXT",
    "ALTER TABLE memories ADD COLUMN decayed_at TEXT",
    # Where the last run stopped: at most one row.
    "CREATE TABLE maintenance (place TEXT NOT NULL) STRICT",
)

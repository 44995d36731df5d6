"""Data files for the benchmarks: the same records on every run."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memories.models import MemoryType, timestamp
from memories.stores.port import NewRecord
from memories.stores.sqlite import SqliteStore

USER = "local"

# What to look for: in ten records, in about a third of them, and in none.
RARE = "quixotic"
COMMON = "harvest"
COMMON_PHRASE = "harvest festival beside the old village mill"
ABSENT = "xylophone"
RARE_MATCHES = 10
# A tag that ten records have, and one that a third of them have.
RARE_TAG = "project-falcon"
COMMON_TAG = "work"

_BATCH = 500
_START = datetime(2026, 1, 1, tzinfo=UTC)
_TEXT = (
    "always morning the user prefers short answers with examples from Lisbon and keeps notes "
    "about garden tools trains coffee Python deadlines reviews budget family meetings doctor "
    "winter travel reading list metric units dark theme keyboard concise summaries friday"
)
_WORDS = _TEXT.split()
_TAGS = ("home", "health", "style", "travel", "tools", "people")
_TYPES: list[MemoryType] = ["preference", "fact", "identity", "event"]


def seed(path: Path, records: int) -> None:
    """Fill a new data file at ``path``; every twentieth record is not active."""
    store = SqliteStore(path)
    drafts = _drafts(records)
    for start in range(0, records, _BATCH):
        for record in store.create(USER, drafts[start : start + _BATCH]):
            if record.id % 40 == 0:
                store.retire(USER, record.id, None)
    store.close()


def content(source: random.Random) -> str:
    """Return a sentence of some 120 characters."""
    return " ".join(source.choices(_WORDS, k=20))


def _drafts(records: int) -> list[NewRecord]:
    source = random.Random(7)
    # Off the multiples of 40, which are retired, and spread over the whole.
    rare = {n * (records // RARE_MATCHES) + 1 for n in range(RARE_MATCHES)}
    drafts = []
    for n in range(records):
        text, tags = content(source), [source.choice(_TAGS)]
        if n in rare:
            text, tags = f"{text} {RARE}", [*tags, RARE_TAG]
        if n % 3 == 0:
            text, tags = f"{text} {COMMON_PHRASE}", [*tags, COMMON_TAG]
        drafts.append(
            NewRecord(
                content=text,
                tags=tuple(tags),
                memory_type=_TYPES[n % 4],
                status="invalid" if n % 40 == 20 else "active",
                created_at=timestamp(_START + timedelta(seconds=30 * n)),
                agent_id="local",
            )
        )
    return drafts

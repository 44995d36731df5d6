"""Data files for the benchmarks: the same records on every run."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memories.fields import MemoryType, timestamp
from memories.principal import SCOPES, Principal
from memories.service import MemoryService
from memories.stores.port import NewRecord
from memories.stores.sqlite import SqliteStore

USER = "local"
_PRINCIPAL = Principal(USER, "local", frozenset(SCOPES))

# What to look for: in ten records, in about a third of them, and in none.
RARE = "quixotic"
COMMON = "harvest"
COMMON_PHRASE = "harvest festival beside the old village mill"
ABSENT = "xylophone"
RARE_MATCHES = 10
# Two characters and other alphabets, in ten records each.
SHORT = "ui"
OTHER_SCRIPT = "太郎の好み"
# A tag that ten records have, and one that a third of them have.
RARE_TAG = "project-falcon"
COMMON_TAG = "work"

# What created records have, and those that are patched.
CREATED_TAGS = ("tools", "style")
PATCHED_TAGS = ("home",)
BATCH = 25
"""How many records a batch has."""

_BATCH = 500
_START = datetime(2026, 1, 1, tzinfo=UTC)
_TEXT = (
    "always morning the user prefers short answers with examples from Lisbon and keeps notes "
    "about garden tools trains coffee Python deadlines reviews budget family meetings doctor "
    "winter travel reading list metric units dark theme keyboard concise summaries friday"
)
_WORDS = _TEXT.split()
_TAGS = ("home", "health", "style", "travel", "tools", "people")
TYPES: list[MemoryType] = ["preference", "fact", "identity", "event"]


def seed(path: Path, records: int) -> None:
    """Fill a new data file at ``path``; every twentieth record is not active."""
    store = SqliteStore(path)
    service = MemoryService(store)
    new = drafts(records)
    for start in range(0, records, _BATCH):
        for record in store.create(_PRINCIPAL, new[start : start + _BATCH]):
            if record.id % 40 == 0:
                service.retire(_PRINCIPAL, record.id)
    store.close()


def patched(records: int) -> list[int]:
    """Return ids of records whose content can be changed and no search finds another number."""
    rare = _rare(records)
    return [n + 1 for n in range(1, records, 3) if n not in rare and (n + 1) % 40]


def live(records: int) -> list[int]:
    """Return the ids of the records that are not retired."""
    return [n for n in range(1, records + 1) if n % 40]


def content(source: random.Random) -> str:
    """Return a sentence of some 120 characters."""
    return " ".join(source.choices(_WORDS, k=20))


def drafts(records: int) -> list[NewRecord]:
    """Return the records of a data file, the same on every run."""
    source = random.Random(7)
    rare = _rare(records)
    made = []
    for n in range(records):
        text, tags = content(source), [source.choice(_TAGS)]
        if n % 3 == 1:
            tags = [*PATCHED_TAGS]
        if n in rare:
            text, tags = f"{text} {RARE} {OTHER_SCRIPT}", [*tags, RARE_TAG]
        if n % 3 == 0:
            text, tags = f"{text} {COMMON_PHRASE}", [*tags, COMMON_TAG]
        made.append(
            NewRecord(
                content=text,
                tags=tuple(tags),
                memory_type=TYPES[n % 4],
                status="invalid" if n % 40 == 20 else "active",
                created_at=timestamp(_START + timedelta(seconds=30 * n)),
                importance=5,
                category=None,
                source=None,
                is_public=True,
                read_only=False,
                shared_with_agents=(),
            )
        )
    return made


def _rare(records: int) -> set[int]:
    # Off the multiples of 40, which are retired, and spread over the whole.
    return {n * (records // RARE_MATCHES) + 1 for n in range(RARE_MATCHES)}

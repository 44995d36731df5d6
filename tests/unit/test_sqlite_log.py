"""The access log in a SQLite file: what has expired is not only hidden."""

from datetime import timedelta

from clock import Clock
from memories.models import MemoryDraft, MemoryQuery
from memories.principal import SCOPES, Principal
from memories.service import MemoryService
from memories.stores.port_log import LOG_DAYS
from memories.stores.sqlite import SqliteStore

PRINCIPAL = Principal("anna", "agent", frozenset(SCOPES))


def oldest(store: SqliteStore) -> tuple[str, int]:
    found = store._session.one("SELECT min(accessed_at), count(*) FROM memory_access_log", {})
    assert isinstance(found, tuple)
    return found


def test_what_has_expired_leaves_the_file_as_accesses_come(
    store: SqliteStore, service: MemoryService, clock: Clock
) -> None:
    service.record_batch(PRINCIPAL, [MemoryDraft(content="Likes tea", tags=["drinks"])] * 25)
    for _ in range(40):
        service.search(PRINCIPAL, MemoryQuery(limit=25))
    assert oldest(store) == (clock.now, 1_000)

    fresh = clock.advance(timedelta(days=LOG_DAYS).total_seconds())
    for _ in range(30):
        service.search(PRINCIPAL, MemoryQuery(limit=25))
    assert oldest(store) == (fresh, 750)

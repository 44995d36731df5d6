"""Requests with a key on SQLite: through kills, and in the data file."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from signal import SIGKILL
from threading import Semaphore

import httpx
import pytest

from clock import Clock
from doors import HttpDoor, draft
from http_client import NO_TLS
from memories.models import MemoryDraft, MemoryQuery
from memories.principal import SCOPES, Principal
from memories.service import MemoryService
from memories.stores.sqlite import SqliteStore
from memories.stores.sqlite.migrations import APPLICATION_ID, MIGRATIONS
from processes import Server, server_on

PRINCIPAL = Principal("user", "agent", frozenset(SCOPES))
TEA = MemoryDraft(content="Likes tea", tags=["drinks"])

# Keys of requests that are sent at once, eight at a time.
KEYS = [f"key {number}" for number in range(40)]
BATCH = 3

Memories = list[dict[str, int]]


@pytest.mark.parametrize("answers", [1, 7, 20])
def test_after_a_kill_a_repeat_of_all_requests_leaves_each_memory_once(
    tmp_path: Path, answers: int
) -> None:
    answered = Semaphore(0)
    with server_on(tmp_path / "m.db") as server, ThreadPoolExecutor(9) as threads:

        def kill() -> None:
            for _ in range(answers):
                answered.acquire()
            server.process.send_signal(SIGKILL)

        threads.submit(kill)
        first = [threads.submit(record, server, key, answered.release) for key in KEYS]
    told = {key: memories for key, memories in (each.result() for each in first) if memories}
    assert answers <= len(told) < len(KEYS)

    with server_on(tmp_path / "m.db") as server:
        again = dict(record(server, key, answered.release) for key in KEYS)
        stored = HttpDoor(server.client).search(limit=100)["total"]
    assert stored == len(KEYS) * BATCH
    assert {key: again[key] for key in told} == told
    ids = [memory["id"] for memory in chain.from_iterable(again.values())]
    assert len({*ids}) == stored


def record(server: Server, key: str, done: Callable[[], object]) -> tuple[str, Memories]:
    drafts = [draft(f"{key}, {number}") for number in range(BATCH)]
    try:
        with httpx.Client(base_url=server.url, verify=NO_TLS) as client:
            answer = client.post("/memories/batch", json=drafts, headers={"Idempotency-Key": key})
    except httpx.TransportError:  # the server was killed
        return key, []
    assert answer.status_code == 201
    done()
    return key, answer.json()


def test_expired_keys_are_forgotten_some_at_a_time(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore(tmp_path / "m.db")
    service = MemoryService(store, clock)
    for number in range(150):
        service.recording.one(PRINCIPAL, TEA, f"old {number}")
    clock.advance(24 * 60 * 60)

    left = []
    for key in ("one", "two", "three"):
        service.recording.one(PRINCIPAL, TEA, key)
        with sqlite3.connect(tmp_path / "m.db") as file:
            left += file.execute("SELECT count(*) FROM keyed_requests").fetchone()
    assert left == [51, 2, 3]
    store.close()


def test_what_is_kept_of_a_request_is_nothing_of_what_was_sent(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    MemoryService(store).recording.one(PRINCIPAL, TEA, "my key")
    with sqlite3.connect(tmp_path / "m.db") as file:
        (row,) = file.execute("SELECT * FROM keyed_requests").fetchall()
    assert not any(text in str(row) for text in ("tea", "drinks", "my key"))
    store.close()


def test_a_file_of_a_version_without_keys_takes_them(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "m.db") as file:
        for statement in MIGRATIONS[0]:
            file.execute(statement)
        file.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        file.execute("PRAGMA user_version = 1")

    store = SqliteStore(tmp_path / "m.db")
    service = MemoryService(store)
    first = service.recording.one(PRINCIPAL, TEA, "k")
    assert service.recording.one(PRINCIPAL, TEA, "k") == first._replace(replayed=True)
    assert service.search(PRINCIPAL, MemoryQuery()).total == 1
    store.close()

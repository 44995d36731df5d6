"""Erasure on SQLite, interrupted: by a failure of the file, by a kill, by other writers."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path

import pytest

from memories.account_models import Receipt
from memories.errors import StoreUnavailable
from memories.models import MemoryDraft, MemoryQuery
from memories.principal import SCOPES, Principal
from memories.relation_models import RelationDraft
from memories.service import MemoryService
from memories.stores.sqlite import SqliteStore
from memories.stores.sqlite.migrations import APPLICATION_ID, MIGRATIONS
from memories.stores.sqlite.rows import COLUMNS
from memories.stores.sqlite.schema_accounts import ACCOUNTS

PRINCIPAL = Principal("user", "agent", frozenset(SCOPES))
OTHER = Principal("user", "other", frozenset(SCOPES))
STRANGER = Principal("user#", "agent", frozenset(SCOPES))
MEMORIES = 250

# Erases, and kills itself after some work of the database.
KILLED = """
import os, signal, sys
from pathlib import Path
from test_interrupted_erasure import PRINCIPAL
from memories.service import MemoryService
from memories.stores.sqlite import SqliteStore

store = SqliteStore(Path(sys.argv[1]))
left = int(sys.argv[2])

def work():
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

store._session.connection.set_progress_handler(work, 1_000)
MemoryService(store).erasure.erase_user(PRINCIPAL)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memories.db"
    with opened(path) as service:
        for principal in (PRINCIPAL, OTHER, STRANGER):
            service.accounts.seen(principal)
        for n in range(MEMORIES // 25):
            drafts = [
                MemoryDraft(content=f"Likes {n} sorts of tea", tags=["drinks", str(each)])
                for each in range(25)
            ]
            service.record_batch(OTHER if n % 2 else PRINCIPAL, drafts)
        for memory_id in range(1, MEMORIES, 10):
            service.relations.relate(
                PRINCIPAL, memory_id, "follows", memory_id + 1, RelationDraft()
            )
        service.record(STRANGER, MemoryDraft(content="Likes tea too", tags=["drinks"]))
    return path


@contextmanager
def opened(path: Path) -> Iterator[MemoryService]:
    store = SqliteStore(path, busy_timeout=0.05)
    yield MemoryService(store)
    store.close()


def connection_of(service: MemoryService) -> sqlite3.Connection:
    assert isinstance(service._store, SqliteStore)
    return service._store._session.connection


def exhausted(left: Iterator[int]) -> bool:
    return next(left, None) is None


def completed(service: MemoryService) -> Receipt:
    while not (receipt := service.erasure.erase_user(PRINCIPAL)).complete:
        pass
    return receipt


def assert_only_the_stranger_is_left(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        for table in ("users", "agents", "memories", "memory_counts", "memory_tags"):
            users = connection.execute(f"SELECT DISTINCT user_id FROM {table}").fetchall()
            assert users == [("user#",)], table
        for table in ("memory_relations", "memory_grants", "memory_origins", "erasures"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
        connection.execute("INSERT INTO memory_search (memory_search) VALUES ('integrity-check')")
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    with opened(path) as service:
        assert service.search(STRANGER, MemoryQuery(q="likes tea")).total == 1
        assert service.search(STRANGER, MemoryQuery(tag="drinks")).total == 1


EXPECTED = {
    "memories": MEMORIES,
    "agents": 2,
    "relations": MEMORIES // 10,
    "log_entries": MEMORIES // 10,
}


@pytest.mark.parametrize("work", [1, 5, 10, 20, 40, 80, 160, 320])
def test_an_erasure_that_is_killed_is_gone_on_with(path: Path, work: int) -> None:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])
    }
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), str(work)], check=False, env=environment
    )
    assert killed.returncode in (-signal.SIGKILL, 0)

    with opened(path) as service:
        receipt = completed(service)
    if killed.returncode:
        assert receipt.erased.model_dump() == EXPECTED
    assert_only_the_stranger_is_left(path)


def test_an_erasure_that_fails_ever_again_ends_with_right_counts(path: Path) -> None:
    failures = 0
    with opened(path) as service:
        connection = connection_of(service)
        work = 1
        while True:
            connection.set_progress_handler(partial(exhausted, iter(range(work))), 500)
            try:
                receipt = service.erasure.erase_user(PRINCIPAL)
            except StoreUnavailable:
                failures += 1
                work += 2
            else:
                if receipt.complete:
                    break
        connection.set_progress_handler(None, 0)
    assert failures > 2
    assert receipt.erased.model_dump() == EXPECTED
    assert_only_the_stranger_is_left(path)


def test_what_was_recorded_since_an_erasure_broke_off_is_erased_too(path: Path) -> None:
    with opened(path) as service:
        connection = connection_of(service)
        merges = 0

        def break_off(statement: str) -> None:
            nonlocal merges
            merges += "'merge'" in statement
            if merges == 2:
                connection.interrupt()

        # By then all rows are gone, and the index is being merged.
        connection.set_trace_callback(break_off)
        with pytest.raises(StoreUnavailable):
            completed(service)
        connection.set_trace_callback(None)
        service.accounts.seen(PRINCIPAL)
        service.record(PRINCIPAL, MemoryDraft(content="Likes tea again", tags=["drinks"]))

        receipt = completed(service)

        assert receipt.erased.memories == MEMORIES + 1
        assert service.search(PRINCIPAL, MemoryQuery()).total == 0
    assert_only_the_stranger_is_left(path)


def test_others_write_between_the_steps(path: Path) -> None:
    with opened(path) as service, opened(path) as elsewhere:
        written = 0

        def write(statement: str) -> None:
            nonlocal written
            if statement.startswith("BEGIN"):
                elsewhere.record(STRANGER, MemoryDraft(content="Likes tea", tags=["new"]))
                written += 1

        connection_of(service).set_trace_callback(write)
        assert completed(service).erased.memories == MEMORIES
        assert written > 2
        assert elsewhere.search(STRANGER, MemoryQuery(tag="new")).total == written


def test_an_agent_that_another_process_erased_is_registered_again(path: Path) -> None:
    with opened(path) as service, opened(path) as elsewhere:
        service.accounts.seen(PRINCIPAL)
        elsewhere.erasure.erase_agent(OTHER, "agent")
        service.accounts.seen(PRINCIPAL)
        assert elsewhere.accounts.agent(OTHER, "agent").agent_id == "agent"


def test_the_agents_of_a_file_of_before_are_those_that_made_memories(path: Path) -> None:
    before = path.with_name("before.db")
    columns = f"row_id, user_id, search_text, {COLUMNS}"
    with sqlite3.connect(before) as connection:
        for statement in chain.from_iterable(MIGRATIONS[: MIGRATIONS.index(ACCOUNTS)]):
            connection.execute(statement)
        connection.execute("ATTACH ? AS present", (str(path),))
        connection.execute(
            "INSERT INTO users SELECT user_number, user_id, created_at, last_id FROM present.users"
        )
        connection.execute(
            f"INSERT INTO memories ({columns}) SELECT {columns} FROM present.memories"
        )
        connection.execute(f"PRAGMA user_version = {MIGRATIONS.index(ACCOUNTS)}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.close()
    with opened(before) as service:
        assert service.accounts.agent(PRINCIPAL, "other").created_at
        assert service.accounts.me(PRINCIPAL).agents == 2

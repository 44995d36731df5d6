"""A store that is stuck: who asks meanwhile is told so in bounded time, however many they are."""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from doors import draft
from http_client import JSON, serving
from memories.config import Settings
from memories.errors import StoreUnavailable
from memories.models import MemoryDraft
from memories.principal import SCOPES, Principal
from memories.service import MemoryService
from memories.stores.sqlite import SqliteStore

WAIT = 0.5
ASKED = 30


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memories.db"


@pytest.fixture
def service(path: Path) -> Iterator[MemoryService]:
    store = SqliteStore(path, busy_timeout=WAIT)
    yield MemoryService(store)
    store.close()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file, as another program's long write does."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


def test_those_in_the_queue_do_not_wait_one_after_the_other(
    path: Path, service: MemoryService
) -> None:
    def ask(url: str) -> int:
        # Not a client with all that a client has: thirty of them take seconds to be made.
        connection = HTTPConnection(str(urlsplit(url).hostname), urlsplit(url).port, timeout=30)
        connection.request("POST", "/memories", json.dumps(draft()), JSON)
        answer = connection.getresponse()
        assert answer.headers.get("retry-after") == ("1" if answer.status == 503 else None)
        connection.close()
        return answer.status

    with serving(service, Settings()) as url, ThreadPoolExecutor(ASKED) as threads:
        with locked(path):
            started = time.monotonic()
            statuses = Counter(threads.map(ask, [url] * ASKED))
            took = time.monotonic() - started
        assert statuses == {503: ASKED}
        assert took < WAIT * 8  # one after the other, it would be thirty times as long
        assert ask(url) == 201


def test_once_the_file_is_free_a_short_lock_is_waited_for_again(
    path: Path, service: MemoryService
) -> None:
    principal = Principal("user", "agent", frozenset(SCOPES))
    likes = MemoryDraft(content="Likes tea", tags=["t"])
    with locked(path):
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                service.record(principal, likes)
    service.record(principal, likes)

    with ThreadPoolExecutor(1) as threads:
        with locked(path):
            waiting = threads.submit(service.record, principal, likes)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=WAIT / 5)
        assert waiting.result().id == 2

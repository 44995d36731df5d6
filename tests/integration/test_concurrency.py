"""Many writers and readers of one memory at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from doors import Door, HttpDoor, Refused, draft
from http_api.app import build_handler
from http_client import EventClient, SocketClient
from memories.config import Settings
from memories.errors import WriteConflict
from memories.models import MemoryDraft, MemoryPatch
from memories.principal import READ, WRITE, Principal
from memories.service import MemoryService
from memories.stores.sqlite import SqliteStore
from processes import server_on

THREADS = 32
PATCHES = 20
PRINCIPAL = Principal("user", "agent", frozenset({READ, WRITE}))


def test_no_update_is_lost_through_two_servers_while_others_read(tmp_path: Path) -> None:
    with server_on(tmp_path / "m.db") as one, server_on(tmp_path / "m.db") as two:
        doors: list[Door] = [HttpDoor(one.client), HttpDoor(two.client)]
        memory_id = doors[0].record(**draft())["id"]

        def patch(writer: int) -> list[int]:
            return [
                until_done(doors[writer % 2], memory_id, f"{writer}: {number}")
                for number in range(PATCHES)
            ]

        def read(reader: int) -> None:
            for _ in range(PATCHES):
                doors[reader % 2].inspect(memory_id)

        with ThreadPoolExecutor(THREADS + 4) as threads:
            readings = [threads.submit(read, reader) for reader in range(4)]
            versions = [version for made in threads.map(patch, range(THREADS)) for version in made]
            for reading in readings:
                reading.result()

        assert sorted(versions) == list(range(2, THREADS * PATCHES + 2))
        assert doors[1].inspect(memory_id)["version"] == THREADS * PATCHES + 1


def until_done(door: Door, memory_id: int, content: str) -> int:
    while True:
        try:
            return int(door.revise(memory_id, content=content)["version"])
        except Refused as refused:
            if refused.kind != "conflict":
                raise


def test_no_update_is_lost_among_threads_of_one_process(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    service = MemoryService(store)
    memory_id = service.record(PRINCIPAL, MemoryDraft(content="x", tags=["t"])).id

    def patch(writer: int) -> list[int]:
        versions = []
        for number in range(PATCHES):
            while True:
                try:
                    change = MemoryPatch(content=f"{writer}: {number}")
                    versions.append(service.revise(PRINCIPAL, memory_id, change).version)
                    break
                except WriteConflict:
                    continue
        return versions

    with ThreadPoolExecutor(THREADS) as threads:
        versions = [version for made in threads.map(patch, range(THREADS)) for version in made]

    assert sorted(versions) == list(range(2, THREADS * PATCHES + 2))
    store.close()


def test_a_writer_that_always_loses_is_told_so_after_a_bounded_number_of_tries(
    tmp_path: Path,
) -> None:
    store = SqliteStore(tmp_path / "m.db")
    rival = MemoryService(store)
    memory_id = rival.record(PRINCIPAL, MemoryDraft(content="0", tags=["t"])).id
    tries: list[int] = []

    class Overtaken(SqliteStore):
        """A store on the same file, in which another writer is always a moment earlier."""

        def update(self, principal, memory_id, version, changes, at):  # type: ignore[no-untyped-def]
            rival.revise(PRINCIPAL, memory_id, MemoryPatch(content=f"rival at {version}"))
            return super().update(principal, memory_id, version, changes, at)

    slow_store = Overtaken(tmp_path / "m.db")
    slow = MemoryService(slow_store, pause=tries.append)
    client = EventClient(
        build_handler(slow, Settings()),
        {"sub": "user", "client_id": "agent", "scope": f"{READ} {WRITE}"},
    )

    answer = client.send("PATCH", f"/memories/{memory_id}", {"content": "mine"})

    assert (answer.status, answer.body) == (
        409,
        {"detail": "Memory was modified by another request"},
    )
    assert tries == list(range(1, 9))
    assert rival.inspect(PRINCIPAL, memory_id).content == "rival at 8"
    slow_store.close()
    store.close()


@pytest.mark.parametrize("writers", [16])
def test_many_clients_of_one_server_get_their_own_answers(tmp_path: Path, writers: int) -> None:
    with server_on(tmp_path / "m.db") as server:

        def work(writer: int) -> None:
            client = SocketClient(server.url)
            door = HttpDoor(client)
            for number in range(20):
                memory = door.record(content=f"{writer} {number}", tags=[f"w{writer}"])
                assert memory["content"] == f"{writer} {number}"
                assert door.inspect(memory["id"])["content"] == memory["content"]
                assert door.search(tag=f"w{writer}")["total"] == number + 1
            client.client.close()

        with ThreadPoolExecutor(writers) as threads:
            list(threads.map(work, range(writers)))

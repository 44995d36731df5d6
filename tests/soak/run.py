"""A soak: many clients at full rate against servers that are killed, or a store that fails.

``python -m soak.run`` prints what was done and found, and ends with 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from doors import HttpDoor
from http_client import Answer
from local.server import listen, url_of
from soak.clients import Bounds, Client, PostDoor, connected
from soak.ledger import Ledger, Memory

USERS = 4
CLIENTS = 16

# How long to wait for a server when nothing is measured any more, in seconds.
_PATIENCE = 300


class Process:
    """A server process, which can be killed and started again at the same address."""

    def __init__(self, store: str, where: str) -> None:
        self._listener = listen("127.0.0.1", 0)
        self.url = url_of(self._listener)
        self._store = store
        self._where = where
        self.start()

    def start(self) -> None:
        number = self._listener.fileno()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "soak.server", str(number), self._store, self._where],
            pass_fds=[number],
            stdout=subprocess.PIPE,
            # A store that fails is told of there; what it does to an answer, its client finds out.
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert self._process.stdout
        assert self._process.stdout.readline() == "serves\n"

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()

    def stop(self) -> str:
        """Have it stop, and return what it says at the end."""
        self._process.send_signal(signal.SIGTERM)
        said, _ = self._process.communicate(timeout=_PATIENCE)
        self._listener.close()
        return said


@dataclass(frozen=True)
class Soak:
    """How long, on which store, and how often servers are killed; in seconds."""

    store: str
    seconds: float
    kill_every: float = 30
    most_memories: int = 20_000
    seed: int = 1


@dataclass
class Report:
    """What came of a soak."""

    soak: Soak
    seconds: float = 0
    kills: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        asked = self.total("asked")
        yield f"soak on {self.soak.store}: {CLIENTS} clients as {USERS} users, over HTTP and MCP"
        yield f"  {asked} operations in {self.seconds:.0f} s, {asked / self.seconds:.0f} a second"
        yield f"  {self.total('done')} acknowledged, {self.total('refused')} refused"
        yield f"  {self.counts.get('without an answer', 0)} without an answer"
        yield f"  {self.counts.get('unavailable', 0)} answered that the store is unavailable"
        yield f"  {self.kills} times kill -9"
        for name, number in sorted((self.faults | self.counts).items()):
            yield f"    {name}: {number}"
        yield f"  {len(self.violations)} violations"
        for violation in self.violations[:20]:
            yield f"    {violation}"

    def total(self, kind: str) -> int:
        return sum(number for name, number in self.counts.items() if name.startswith(f"{kind}: "))


def run(soak: Soak) -> Report:
    """Soak, and hold what is stored afterwards against what was acknowledged."""
    ledger, report = Ledger(), Report(soak)
    with tempfile.TemporaryDirectory() as directory, _served(soak, directory, report) as processes:
        started = time.monotonic()
        stop = Event()
        bounds = Bounds(stop, soak.most_memories, unavailable_is_lost=soak.store != "sqlite")
        with _clients([each.url for each in processes], ledger, bounds, soak.seed):
            _kill(processes, soak, report) if soak.store == "sqlite" else stop.wait(soak.seconds)
            report.seconds = time.monotonic() - started
        for number in range(USERS):
            user = _user(number)
            stored = _exported(processes[0].url, user)
            ledger.verify(user, stored)
            counted = _answered(processes[-1].url, user, "/me").body["memories"]
            ledger.expect(sum(counted.values()) == len(stored), f"{user} counts {counted}")
        if soak.store == "sqlite":
            ledger.violations += _damages(Path(directory) / "memories.db")
    report.counts = dict(ledger.counts)
    report.violations = ledger.violations
    return report


def _user(number: int) -> str:
    return f"user {number}"


@contextmanager
def _served(soak: Soak, directory: str, report: Report) -> Iterator[list[Process]]:
    if soak.store == "sqlite":
        # Two processes on one file, as where it is served and used by a command at once.
        where = str(Path(directory) / "memories.db")
        processes = [Process("sqlite", where) for _ in range(2)]
    else:
        processes = [Process("moto", str(soak.seed))]
    try:
        yield processes
    finally:
        said = [process.stop() for process in processes]
        if soak.store != "sqlite":
            report.faults = {f"DynamoDB: {name}": n for name, n in json.loads(said[0]).items()}


@contextmanager
def _clients(urls: list[str], ledger: Ledger, bounds: Bounds, seed: int) -> Iterator[None]:
    threads = []
    with ExitStack() as stack:
        for number in range(CLIENTS):
            user, agent = _user(number % USERS), number // USERS
            url = urls[agent // 2 % len(urls)]
            http = stack.enter_context(connected(url, user, f"agent {agent}"))
            door = PostDoor(http) if agent % 2 else HttpDoor(http)
            client = Client(f"c{seed}-{number}", user, door, ledger, bounds)
            threads.append(Thread(target=client.run))
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            bounds.stop.set()
            for thread in threads:
                thread.join()


def _kill(processes: list[Process], soak: Soak, report: Report) -> None:
    """Kill one process, the other, both, and so on; each comes back at once."""
    moments = random.Random(soak.seed)
    began = time.monotonic()
    due = 0.0
    while (due := due + soak.kill_every * moments.uniform(0.8, 1.2)) < soak.seconds:
        Event().wait(max(0, began + due - time.monotonic()))
        victims = [processes[:1], processes[1:], processes][report.kills % 3]
        for process in victims:
            process.kill()
        for process in victims:
            process.start()
        report.kills += 1
    Event().wait(max(0, began + soak.seconds - time.monotonic()))


def _exported(url: str, user: str) -> list[Memory]:
    memories: list[Memory] = []
    target = "/export"
    while target:
        answer = _answered(url, user, target)
        memories += map(json.loads, answer.text.splitlines())
        link = answer.headers.get("link", "")
        target = link.partition("<")[2].partition(">")[0]
    return memories


def _answered(url: str, user: str, target: str) -> Answer:
    """Ask until the store, whose requests still fail, is available."""
    with connected(url, user, "verifier") as client:
        client.client.timeout = _PATIENCE
        while (answer := client.request("GET", target)).status == 503:
            pass
    assert answer.status == 200, answer
    return answer


def _damages(data: Path) -> list[str]:
    """Return what SQLite finds wrong with its file."""
    connection = sqlite3.connect(data)
    found = [str(row) for row in connection.execute("PRAGMA integrity_check") if row != ("ok",)]
    found += [str(row) for row in connection.execute("PRAGMA foreign_key_check")]
    try:
        connection.execute("INSERT INTO memory_search (memory_search) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as error:
        found.append(f"the index: {error}")
    connection.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", choices=["sqlite", "moto"], action="append")
    asked = parser.parse_args()
    stores = asked.store or ["sqlite", "moto"]
    violations = 0
    for store in stores:
        most = 20_000 if store == "sqlite" else 150
        soak = Soak(store, asked.minutes * 60, most_memories=most, seed=asked.seed)
        report = run(soak)
        print("\n".join(report.lines()), flush=True)
        violations += len(report.violations)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

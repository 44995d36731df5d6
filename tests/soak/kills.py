"""Operations on a data file in a process that is killed at random moments, and what is left of it.

``python -m soak.kills`` has its modules loaded once, and forks a process for each kill: so there
are many in a second.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from clock import Clock
from memories.account_models import MePatch
from memories.models import MemoryDraft, MemoryPatch
from memories.principal import SCOPES, Principal
from memories.relation_models import RelationDraft
from memories.service import MemoryService
from memories.stores.sqlite import SqliteStore

PRINCIPAL = Principal("user", "agent", frozenset(SCOPES))
OTHER = Principal("user", "other", frozenset(SCOPES))
BATCHES = 4

# All rows of a file, by table.
State = dict[str, list[tuple[Any, ...]]]
Step = Callable[[MemoryService], object]


def draft(content: str) -> MemoryDraft:
    return MemoryDraft(content=content, tags=["drinks", content[-1]])


def importing(number: int) -> Step:
    lines = [
        {"content": f"From elsewhere {number}", "tags": ["a"], "id": 900 + number},
        {"content": f"And {number}", "tags": ["b"]},
        # Whose id is taken.
        {
            "content": f"Related {number}",
            "tags": ["b"],
            "id": number + 1,
            "relations": [{"to_id": 900 + number, "relation_type": "follows", "strength": 0.5}],
        },
    ]
    body = "\n".join(map(json.dumps, lines)).encode()
    return lambda service: service.transfer.take_in(PRINCIPAL, body)


def numbered(number: int, step: Callable[[MemoryService, int], object]) -> list[Step]:
    """Return so many steps, which differ by their numbers from 0."""
    return [partial(_with_number, step, each) for each in range(number)]


def _with_number(
    step: Callable[[MemoryService, int], object], number: int, service: MemoryService
) -> object:
    return step(service, number)


@dataclass(frozen=True)
class Work:
    """Operations, one after the other."""

    steps: list[Step]
    # Whether each is one change of the file, between which and the next there is nothing.
    whole: bool = True
    # Whether those that were done can be done again without a further effect.
    repeatable: bool = False


def completed(erase: Callable[[MemoryService], Any]) -> Step:
    def step(service: MemoryService) -> None:
        while not erase(service).complete:
            pass

    return step


WORK = {
    "create": Work(numbered(8, lambda service, n: service.record(PRINCIPAL, draft(f"Tea {n}")))),
    "create with a key": Work(
        numbered(
            8, lambda service, n: service.recording.one(PRINCIPAL, draft(f"Tea {n}"), f"key {n}")
        ),
        repeatable=True,
    ),
    "batch": Work(
        numbered(4, lambda service, n: service.record_batch(PRINCIPAL, [draft(f"Tea {n}")] * 25))
    ),
    "change": Work(
        numbered(
            8,
            lambda service, n: service.revise(
                PRINCIPAL, 1 + n, MemoryPatch(content=f"Now {n}", tags=["now", str(n)])
            ),
        ),
        repeatable=True,
    ),
    "retire": Work(numbered(8, lambda service, n: service.retire(PRINCIPAL, 1 + n))),
    "relate and invalidate": Work(
        numbered(
            8,
            lambda service, n: service.relations.relate(
                PRINCIPAL, 20 + n, "supersedes", 1 + n, RelationDraft(invalidate=True)
            ),
        )
    ),
    # The memories of an import are stored, and then their relations.
    "import": Work([importing(number) for number in range(4)], whole=False, repeatable=True),
    # What is many is erased in steps, and a repeat goes on.
    "erase an agent": Work(
        [completed(lambda service: service.erasure.erase_agent(OTHER, "agent"))], whole=False
    ),
    "erase the user": Work(
        [completed(lambda service: service.erasure.erase_user(PRINCIPAL))],
        whole=False,
        repeatable=True,
    ),
}


def service_on(path: Path) -> tuple[SqliteStore, MemoryService]:
    store = SqliteStore(path)
    return store, MemoryService(store, Clock())


def prepare(path: Path) -> None:
    """Make a file with memories of two agents of a user, and of another user."""
    store, service = service_on(path)
    for principal in (PRINCIPAL, OTHER, Principal("stranger", "agent", PRINCIPAL.scopes)):
        service.accounts.seen(principal)
        for n in range(BATCHES):
            service.record_batch(principal, [draft(f"Likes {n}, {m}") for m in range(25)])
    service.accounts.revise_me(PRINCIPAL, MePatch(metadata={"a": "b"}))
    for n in range(1, 20):
        service.relations.relate(PRINCIPAL, n, "follows", n + 60, RelationDraft())
        service.inspect(PRINCIPAL, n)
    store.close()


def state_of(connection: sqlite3.Connection) -> State:
    """Return all that a file holds, but the inner tables of its index."""
    tables = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'memory_search%'"
    ).fetchall()
    return {
        name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
        for (name,) in tables
    }


def states_of(path: Path, work: Work) -> list[list[State]]:
    """Do the work undisturbed, and return the states during each step, and the last one alone."""
    store, service = service_on(path)
    reader = sqlite3.connect(path)
    states: list[list[State]] = []

    def note(statement: str) -> None:
        if statement.startswith("BEGIN IMMEDIATE"):
            now = state_of(reader)
            if not states[-1] or now != states[-1][-1]:
                states[-1].append(now)

    store._session.connection.set_trace_callback(note)
    for step in work.steps:
        states.append([])
        step(service)
    states.append([])
    store._session.connection.set_trace_callback(None)
    states[-1].append(state_of(reader))
    reader.close()
    store.close()
    return states


def work_in_a_child(path: Path, work: Work) -> tuple[int, int]:
    """Return the process, which has the file open, and where it says what it has begun and done."""
    told, telling = os.pipe()
    child = os.fork()
    if child:
        os.close(telling)
        return child, told
    try:
        _, service = service_on(path)
        os.write(telling, b".")
        for step in work.steps:
            step(service)
            os.write(telling, b".")
    finally:
        os._exit(0)


def killed_after(seconds: float, path: Path, work: Work) -> int:
    """Kill the work so long after it begins, and return how many steps it said were done."""
    child, told = work_in_a_child(path, work)
    said = os.read(told, 1)
    assert said, "the work could not begin"
    time.sleep(seconds)  # the moment is what is random
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(told, 100):
        said += more
    os.close(told)
    return len(said) - 1


def check(path: Path, work: Work, states: list[list[State]], done: int) -> bool:
    """Hold the file against the states that whole operations give, and complete what is left.

    Returns whether it was found beyond what was said to be done, and before the end.
    """
    connection = sqlite3.connect(path)
    found = state_of(connection)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.execute("INSERT INTO memory_search (memory_search) VALUES ('integrity-check')")
    connection.close()

    # What was said to be done is done. The step after it is not begun, or at one of the states
    # that it has between its transactions, or done without having said so.
    following = states[done + 1][:1] if done < len(work.steps) else []
    assert found in states[done] + following, f"after {done} steps"

    store, service = service_on(path)
    for step in work.steps[0 if work.repeatable else done + (found in following) :]:
        step(service)
    store.close()
    connection = sqlite3.connect(path)
    assert state_of(connection) == states[-1][0]
    connection.close()
    return found not in [states[done][0], states[-1][0]]


def killed(name: str, points: int, seed: int, directory: Path) -> dict[str, int]:
    """Kill one work at so many moments, and return how far it had come, how often."""
    work = WORK[name]
    path = directory / "work.db"
    prepared = directory / "prepared.db"
    shutil.copy(prepared, path)
    states = states_of(path, work)
    assert not work.whole or all(len(each) == 1 for each in states)
    shutil.copy(prepared, path)
    takes = seconds_of(path, work)

    moments = random.Random(f"{seed} {name}")
    counts = {"before": 0, "midway": 0, "after": 0}
    for _ in range(points):
        for each in directory.glob("work.db*"):
            each.unlink()
        shutil.copy(prepared, path)
        done = killed_after(moments.uniform(0, takes), path, work)
        is_midway = check(path, work, states, done) or 0 < done < len(work.steps)
        counts["midway" if is_midway else "after" if done else "before"] += 1
    return counts


def seconds_of(path: Path, work: Work) -> float:
    """Return how long the work takes when it is not killed."""
    child, told = work_in_a_child(path, work)
    os.read(told, 1)
    begun = time.monotonic()
    os.waitpid(child, 0)
    os.close(told)
    return time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    prepare(asked.directory / "prepared.db")
    for name in WORK:
        counts = killed(name, asked.points, asked.seed, asked.directory)
        print(json.dumps({"work": name, **counts}), flush=True)


if __name__ == "__main__":
    main()

"""The figures of one machine: the service, the limit, the baseline and the peers, side by side.

Each server is a process of its own, on a file with the same records. All run at once, and within a
round they take turns, those that are compared next to one another.
"""

import shutil
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import like_service
import load
import peers
import seed
import servers
from operations import BATCH, CREATE, Operation, operations
from results import BARE, LIKE, SERVICE, Rate
from subjects import CLIENTS, Subject, over_http, over_rest, over_stdio
from tool_calls import Stdio

# Searches of the baseline take so long on more records than this that one client is enough.
_MOST_LIKE = 10_000
_FEWEST_ROUNDS = 3

Key = tuple[int, str, str, int, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    sizes: Sequence[int]
    most: load.Most
    warm_up: load.Most
    rounds: int
    # After the first few rounds, none is begun that would not end within these.
    seconds: float


async def measure(
    plan: Plan, folder: Path, say: Callable[[str], None]
) -> tuple[list[Rate], list[str]]:
    """Return the raw table, and what there is to know about the peers."""
    subjects: list[Subject] = []
    async with AsyncExitStack() as stack:
        for size in plan.sizes:
            say(f"{size:,} records: seeding, and starting the servers")
            subjects += await _subjects(size, folder, stack)
        say("installing and seeding the peers")
        found, notes = await peers.subjects(plan.sizes, folder, stack)
        subjects += found
        rates: dict[Key, list[float]] = {}
        for group in _groups(subjects):
            share = plan.seconds * len(group) / len(subjects)
            await _measure_group(group, plan, share, rates, say)
    return [Rate(*key, rounds=found) for key, found in rates.items()], notes


def _groups(subjects: Sequence[Subject]) -> list[list[Subject]]:
    """Return first what leaves the number of records as it is, then what does not."""
    groups: dict[str, list[Subject]] = {"": [], CREATE: [], BATCH: []}
    for subject in subjects:
        name = subject.operation.name
        groups[name if name in groups else ""].append(subject)
    return [
        sorted(group, key=lambda each: (each.records, each.operation.name, each.way, each.clients))
        for group in groups.values()
    ]


async def _measure_group(
    group: Sequence[Subject],
    plan: Plan,
    seconds: float,
    rates: dict[Key, list[float]],
    say: Callable[[str], None],
) -> None:
    for subject in group:
        await subject.measure(_at_most(plan.warm_up, subject.operation))
    began = time.monotonic()
    for turn in range(1, plan.rounds + 1):
        for each in group:
            outcome = await each.measure(_at_most(plan.most, each.operation))
            key = (each.records, each.operation.name, each.way, each.clients, each.who)
            rates.setdefault(key, []).append(round(outcome.rate, 1))
        taken = time.monotonic() - began
        say(f"round {turn}: {len(group)} figures, {taken:.0f} s so far")
        if turn >= _FEWEST_ROUNDS and taken * (turn + 1) / turn > seconds:
            break


def _at_most(most: load.Most, operation: Operation) -> load.Most:
    if operation.most is None:
        return most
    return load.Most(min(most.requests, operation.most), most.seconds)


async def _subjects(size: int, folder: Path, stack: AsyncExitStack) -> list[Subject]:
    seeded = folder / f"seeded-{size}.db"
    seed.seed(seeded, size)

    def copy(name: str) -> str:
        file = folder / f"{name}-{size}.db"
        shutil.copy(seeded, file)
        return str(file)

    async def http(*command: str) -> int:
        return await stack.enter_async_context(servers.http_server(*servers.python(*command)))

    async def stdio(*command: str) -> Stdio:
        started = await stack.enter_async_context(servers.process(*servers.python(*command)))
        host = Stdio(started)
        await host.start()
        return host

    service = await http(*servers.SERVICE, copy("service"))
    route = await http(servers.script("bare_route.py"), copy("route"))
    tool = await http(servers.script("bare_tool.py"), copy("tool"), "http")
    like_file = folder / f"like-{size}.db"
    copy_for_like(seeded, like_file)
    like = await http(servers.script("like_service.py"), str(like_file))
    host = await stdio(*servers.SERVICE_ON_STDIO, copy("host"))
    bare_host = await stdio(servers.script("bare_tool.py"), copy("bare-host"), "stdio")

    found: list[Subject] = []
    for each in operations(size):
        if each.requests:
            found += over_rest(size, each, SERVICE, service)
            found += over_rest(size, each, BARE, route)
            clients = CLIENTS if size <= _MOST_LIKE else CLIENTS[:1]
            found += over_rest(size, each, LIKE, like, clients)
        for who, port in ((SERVICE, service), (BARE, tool)):
            found += over_http(size, each, who, port)
        for who, process in ((SERVICE, host), (BARE, bare_host)):
            found += over_stdio(size, each, who, process)
    return found


def copy_for_like(seeded: Path, path: Path) -> None:
    """Give the baseline the records of a seeded file."""
    columns = ", ".join(like_service.FIELDS)
    with sqlite3.connect(path) as connection:
        connection.execute(like_service.SCHEMA)
        connection.execute("ATTACH ? AS seeded", (str(seeded),))
        connection.execute(
            f"INSERT INTO memories ({columns}) SELECT {columns} FROM seeded.memories"
        )
    connection.close()

"""The figures of the cloud: requests and units, a cold start, and the handler's time."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import costs
import emulator
import servers
import starts
from installed import NotInstallable


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    lengths: tuple[int, ...]
    # How many memories the user has, in the figures by length.
    memories: int
    sizes: tuple[int, ...]
    start_rounds: int
    handler_rounds: int
    handler_calls: int


def measure(
    plan: Plan, folder: Path, say: Callable[[str], None]
) -> tuple[dict[str, Any], list[str]]:
    """Return the tables by name, and what could not be measured and why."""
    say("the handler's time")
    tables: dict[str, Any] = {"handler": _handler_times(plan)}
    say("cold starts")
    tables["starts"] = [asdict(start) for start in starts.measure(plan.start_rounds)]
    say("units by the length of content")
    by_length = costs.by_length(plan.lengths, plan.memories)
    tables["by_length"] = costs.as_rows(by_length, "length")
    say("units by the number of memories")
    tables["by_number"] = costs.as_rows(costs.by_number(plan.sizes), "memories")
    say("units beside those that an emulator reports")
    notes = []
    try:
        tables["check"] = [asdict(check) for check in emulator.measure(folder)]
    except (NotInstallable, TimeoutError) as error:
        tables["check"] = []
        notes.append(f"The units were not compared with {emulator.PACKAGE}'s: {error}")
    return tables | {"memories": plan.memories}, notes


def _handler_times(plan: Plan) -> list[Any]:
    done = subprocess.run(
        [
            *(sys.executable, servers.script("handler_time.py")),
            *(str(plan.handler_rounds), str(plan.handler_calls)),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    rows: list[Any] = json.loads(done.stderr.splitlines()[-1])
    return rows

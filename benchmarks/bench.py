"""The suite, in one command: ``python benchmarks/bench.py``, or ``--quick`` to see that it runs."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import uvloop

import goals
import load
import machine
from results import Results, conditions

FULL = machine.Plan(
    sizes=(1_000, 10_000, 100_000),
    peers_at=10_000,
    most=load.Most(300, 0.25),
    warm_up=load.Most(60, 0.1),
    rounds=7,
    seconds=17 * 60,
)
QUICK = machine.Plan(
    sizes=(200, 1_000),
    peers_at=1_000,
    most=load.Most(16, 0.05),
    warm_up=load.Most(1, 0.05),
    rounds=1,
    seconds=0,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few records, one round")
    parser.add_argument("--results", type=Path, default=Path(".cache/bench"), metavar="FOLDER")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - started:5.0f} s] {text}", file=sys.stderr, flush=True)

    plan = QUICK if options.quick else FULL
    results = Results(conditions(), list(plan.sizes))
    with tempfile.TemporaryDirectory() as folder:
        results.rates, results.notes = uvloop.run(machine.measure(plan, Path(folder), say))
    print(goals.table(goals.goals(results)))
    results.write(options.results / "results.json")


if __name__ == "__main__":
    main()

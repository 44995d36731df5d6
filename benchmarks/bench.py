"""The suite, in one command: ``python benchmarks/bench.py``, or ``--quick`` to see that it runs.

A full run takes some 25 minutes on a machine that does nothing else, and writes the raw table and
the plots to docs/performance/ and the tables into docs/performance.md. A quick one, and one of a
part, writes to .cache/bench/.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import uvloop

import cloud
import goals
import load
import machine
import plots
import report
from results import Results, conditions

_ROOT = Path(__file__).parents[1]
DOCUMENT = _ROOT / "docs" / "performance.md"
KEPT = _ROOT / "docs" / "performance"
TRIED = _ROOT / ".cache" / "bench"

FULL = machine.Plan(
    sizes=(1_000, 10_000, 100_000),
    most=load.Most(300, 0.25),
    warm_up=load.Most(60, 0.1),
    rounds=7,
    seconds=15 * 60,
)
FULL_CLOUD = cloud.Plan(
    lengths=(100, 500, 2_000, 8_000),
    memories=1_000,
    sizes=(100, 1_000, 10_000),
    start_rounds=15,
    handler_rounds=15,
    handler_calls=100,
)
QUICK = machine.Plan(
    sizes=(200, 1_000),
    most=load.Most(16, 0.05),
    warm_up=load.Most(1, 0.05),
    rounds=1,
    seconds=0,
)
QUICK_CLOUD = cloud.Plan(
    lengths=(100,),
    memories=20,
    sizes=(20, 60),
    start_rounds=1,
    handler_rounds=1,
    handler_calls=5,
)

Say = Callable[[str], None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few records, one round")
    parser.add_argument("--part", choices=("machine", "cloud"), help="only this part")
    options = parser.parse_args()
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - started:5.0f} s] {text}", file=sys.stderr, flush=True)

    plan, cloud_plan = (QUICK, QUICK_CLOUD) if options.quick else (FULL, FULL_CLOUD)
    results = Results(conditions(), list(plan.sizes))
    with tempfile.TemporaryDirectory() as folder:
        if options.part != "cloud":
            results.rates, results.notes = uvloop.run(machine.measure(plan, Path(folder), say))
        if options.part != "machine":
            results.cloud, notes = cloud.measure(cloud_plan, Path(folder), say)
            results.notes += notes
    whole = not (options.quick or options.part)
    _write(results, KEPT if whole else TRIED, DOCUMENT, whole)
    print(goals.table(goals.goals(results)))


def _write(results: Results, folder: Path, document: Path, whole: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    results.write(folder / "results.json")
    plots.draw(results, folder)
    if not whole:
        document = Path(shutil.copy(document, folder))
    report.fill(document, results)


if __name__ == "__main__":
    main()

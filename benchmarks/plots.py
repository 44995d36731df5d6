"""Results as the plots of docs/performance.md."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from goals import LIMIT
from results import BARE, HTTP, LIKE, REFERENCE, REST, SERVICE, STDIO, VECTORS, Results, over

_LOOK: Any = {
    # Text stays text, and the same results make the same file.
    "svg.fonttype": "none",
    "svg.hashsalt": "memories",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "figure.figsize": (9, 5.5),
}


def draw(results: Results, folder: Path) -> None:
    """Write the plots into a folder."""
    with mpl.rc_context(_LOOK):
        of_machine = (("limit", _limit), ("others", _others), ("growth", _growth))
        of_cloud = (("units", _units),)
        for name, plot in (
            *of_machine[: 3 * bool(results.rates)],
            *of_cloud[: bool(results.cloud)],
        ):
            figure, axes = plt.subplots(layout="constrained")
            plot(results, axes)
            figure.savefig(
                folder / f"{name}.svg",
                metadata={"Date": None, "Creator": None, "Description": _about(results)},
            )
            plt.close(figure)


def _about(results: Results) -> str:
    return ", ".join(f"{name} {value}" for name, value in results.conditions.items())


def _limit(results: Results, axes: Axes) -> None:
    names: list[str] = []
    for rate in results.rates:
        if rate.who == SERVICE and rate.operation not in names:
            names.append(rate.operation)
    ways = (REST, HTTP, STDIO)
    for number, way in enumerate(ways):
        places, ratios = [], []
        for place, name in enumerate(names):
            ratio = results.ratio(results.middle, name, way, 1, BARE)
            if ratio is not None:
                places.append(place + (number - 1) * 0.27)
                ratios.append(ratio)
        axes.barh(places, ratios, height=0.25, label=way)
    axes.axvline(LIMIT, color="black", linewidth=0.8, linestyle="--")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel(f"rate over that of the same SQL alone, {results.middle:,} records, one client")
    axes.legend()


def _others(results: Results, axes: Axes) -> None:
    bars: list[tuple[str, float]] = []
    for other in (LIKE, REFERENCE, VECTORS):
        for rate in results.rates:
            if rate.who == other and rate.clients == 1 and rate.records <= results.middle:
                if other == LIKE and rate.records != results.middle:
                    continue
                ours = results.find(rate.records, rate.operation, rate.way, 1, SERVICE)
                if ours:
                    bars.append((f"{other}: {rate.operation}", over(ours, rate)))
    axes.barh([name for name, _ in bars], [ratio for _, ratio in bars])
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_xlabel("our rate over theirs, one client")


def _growth(results: Results, axes: Axes) -> None:
    names = dict.fromkeys(rate.operation for rate in results.rates if rate.way == REST)
    for name in names:
        found = [results.find(size, name, REST, 1, SERVICE) for size in results.sizes]
        times = [1000 / each.median for each in found if each]
        if len(times) == len(results.sizes):
            axes.plot(results.sizes, times, marker="o", markersize=3, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("records")
    axes.set_ylabel("milliseconds a request over REST, one client")
    axes.legend(fontsize=7, ncols=2)


def _units(results: Results, axes: Axes) -> None:
    rows: Sequence[dict[str, Any]] = results.cloud["by_number"]
    numbers = list(dict.fromkeys(row["memories"] for row in rows))
    for name in dict.fromkeys(row["operation"] for row in rows):
        found = [row for row in rows if row["operation"] == name]
        if len(found) == len(numbers):
            dollars = [row["dollars"] for row in found]
            axes.plot(numbers, dollars, marker="o", markersize=3, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("a user's memories")
    axes.set_ylabel("dollars for a million, in DynamoDB")
    axes.legend()

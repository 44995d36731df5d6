"""The goals, each beside what a run reached."""

from collections.abc import Sequence
from dataclasses import dataclass

import costs
import starts
from operations import CREATE, RARE, READ, TAG, TYPE
from results import BARE, HTTP, LIKE, REFERENCE, REST, SERVICE, STDIO, Results, over

LIMIT = 0.6
GROWTH = 3.0
HANDLER = 1.5
START = 1.4
UNITS = 40


@dataclass(frozen=True, slots=True)
class Goal:
    """``at_least``: else at most. ``reached`` is None where it could not be measured."""

    text: str
    bound: float
    at_least: bool
    reached: float | None
    # Which of several figures it is the worst of.
    worst: str = ""

    @property
    def met(self) -> bool | None:
        if self.reached is None:
            return None
        return self.reached >= self.bound if self.at_least else self.reached <= self.bound


def goals(results: Results) -> list[Goal]:
    """Return every goal; most of those of one machine are for its middle size."""
    middle = results.middle
    return [
        *_over_like(results, middle),
        *_over_reference(results, middle),
        *(_of_limit(results, middle, way) for way in (REST, HTTP, STDIO)),
        *_growth(results),
        *_cloud(results),
    ]


def _over_like(results: Results, records: int) -> list[Goal]:
    wanted = ((RARE, 8.0), (CREATE, 2.0), (READ, 2.0))
    return [
        Goal(
            f"{name} over REST, {records:,} records: rate over the LIKE baseline",
            bound,
            True,
            results.ratio(records, name, REST, 1, LIKE),
        )
        for name, bound in wanted
    ]


def _over_reference(results: Results, records: int) -> list[Goal]:
    wanted = ((CREATE, 20.0), (RARE, 5.0))
    return [
        Goal(
            f"{name} over MCP, {records:,} records: rate over the reference memory server",
            bound,
            True,
            results.ratio(records, name, STDIO, 1, REFERENCE),
        )
        for name, bound in wanted
    ]


def _of_limit(results: Results, records: int, way: str) -> Goal:
    ratios = [
        (over(rate, bare), f"{rate.operation}, {rate.clients} clients")
        for rate in results.rates
        if rate.records == records and rate.way == way and rate.who == SERVICE
        if (bare := results.find(records, rate.operation, way, rate.clients, BARE))
    ]
    reached, worst = min(ratios, default=(None, ""))
    text = f"every operation over {way}, {records:,} records: rate over the bare limit"
    return Goal(text, LIMIT, True, reached, worst)


def _growth(results: Results) -> list[Goal]:
    least, most = results.sizes[0], results.sizes[-1]
    made = []
    for name in (TYPE, TAG, RARE):
        small = results.find(least, name, REST, 1, SERVICE)
        large = results.find(most, name, REST, 1, SERVICE)
        reached = over(small, large) if small and large else None
        text = f"{name}: time at {most:,} records over that at {least:,}"
        made.append(Goal(text, GROWTH, False, reached))
    return made


def _cloud(results: Results) -> list[Goal]:
    handlers = [(row["ratio"], row["operation"]) for row in results.cloud.get("handler", [])]
    slowest, which = max(handlers, default=(None, ""))
    started = [
        row["time_ratio"] for row in results.cloud.get("starts", []) if row["name"] == starts.READY
    ]
    made = [
        Goal("handler time over that of a bare boto3 handler", HANDLER, False, slowest, which),
        Goal(
            f"start of the function over {starts.LEAST}",
            START,
            False,
            started[0] if started else None,
        ),
    ]
    rows = results.cloud.get("by_number", [])
    most = max((row["memories"] for row in rows), default=0)
    for unit in ("writes", "reads"):
        found = [
            row[unit] for row in rows if (row["memories"], row["operation"]) == (most, costs.PAGE)
        ]
        text = f"{costs.PAGE} of {most:,} memories of {costs.USUAL} characters: {unit[:-1]} units"
        made.append(Goal(text, UNITS, False, found[0] if found else None))
    return made


def table(found: Sequence[Goal]) -> str:
    """Return the goals as a table of Markdown."""
    lines = ["| goal | | reached | met |", "|---|--:|--:|---|"]
    for goal in found:
        sign = "≥" if goal.at_least else "≤"
        reached = "not measured" if goal.reached is None else f"{goal.reached:.2f}"
        met = {True: "yes", False: "**no**", None: ""}[goal.met]
        worst = f" (the worst: {goal.worst})" if goal.worst else ""
        lines.append(f"| {goal.text}{worst} | {sign} {goal.bound:g} | {reached} | {met} |")
    return "\n".join(lines)

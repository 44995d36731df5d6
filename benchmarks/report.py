"""Results as the tables of docs/performance.md, each put between the marks that name it."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import goals
from operations import PRIME
from results import BARE, HTTP, LIKE, REFERENCE, REST, SERVICE, STDIO, VECTORS, Results, over

WAYS = (REST, HTTP, STDIO)


def fill(document: Path, results: Results) -> None:
    """Replace what stands between the marks of each table, ``<!-- name -->`` to ``<!-- / -->``."""
    text = document.read_text(encoding="utf-8")
    for name, table in tables(results).items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- / -->)", re.DOTALL)
        text, count = pattern.subn(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", text)  # noqa: B023
        assert count == 1, f"{document} has no place for the table {name}"
    document.write_text(text, encoding="utf-8")


def tables(results: Results) -> dict[str, str]:
    """Return every table in Markdown, by name, but for those of a part that was not run."""
    found = {
        "conditions": _conditions(results),
        "goals": goals.table(goals.goals(results)),
    }
    if results.rates:
        found |= {f"limit {way}": _limit(results, way) for way in WAYS}
        found |= {"peers": _peers(results), "growth": _growth(results)}
    return found | _cloud_tables(results) if results.cloud else found


def _cloud_tables(results: Results) -> dict[str, str]:
    return {
        "lengths": _lengths(results),
        "numbers": _numbers(results),
        "check": _check(results),
        "starts": _starts(results),
        "handler": _handler(results),
    }


def _conditions(results: Results) -> str:
    kept = ", ".join(f"{name} {value}" for name, value in results.conditions.items())
    return "\n\n".join([f"{kept}.", *results.notes])


def _limit(results: Results, way: str) -> str:
    records = results.middle
    with_like = way == REST
    rows = []
    for name in _operations(results, way):
        ours = [results.find(records, name, way, clients, SERVICE) for clients in (1, 16)]
        cells = [_rate(each.median if each else None) for each in ours]
        for other in (BARE, LIKE) if with_like else (BARE,):
            cells += [_ratio(results.ratio(records, name, way, n, other)) for n in (1, 16)]
        rows.append([name, *cells])
    head = ["operation", "a second", "16 clients", "of the limit", "16 clients"]
    return _table([*head, "over LIKE", "16 clients"] if with_like else head, rows)


def _peers(results: Results) -> str:
    rows = []
    for rate in results.rates:
        if rate.who not in {REFERENCE, VECTORS}:
            continue
        ours = results.find(rate.records, rate.operation, rate.way, rate.clients, SERVICE)
        if ours:
            rows.append(
                [
                    *(rate.who, rate.operation, f"{rate.records:,}", str(rate.clients)),
                    *(_rate(rate.median), _rate(ours.median), _ratio(over(ours, rate))),
                ]
            )
    head = ["peer", "operation", "records", "clients", "its rate", "ours", "ours over its"]
    return _table(head, rows, texts=2)


def _growth(results: Results) -> str:
    rows = []
    for way in (REST, STDIO):
        for name in _operations(results, way):
            if way == STDIO and name != PRIME:
                continue
            found = [results.find(size, name, way, 1, SERVICE) for size in results.sizes]
            if all(found):
                times = [f"{1000 / each.median:.2f}" for each in found if each]
                small, large = found[0], found[-1]
                assert small
                assert large
                rows.append([name, *times, _ratio(over(small, large))])
    head = ["operation", *(f"{size:,}" for size in results.sizes), "last over first"]
    return _table(head, rows)


def _lengths(results: Results) -> str:
    return _units(results.cloud["by_length"], "length", "characters")


def _numbers(results: Results) -> str:
    return _units(results.cloud["by_number"], "memories", "memories")


def _units(rows: Sequence[dict[str, Any]], key: str, unit: str) -> str:
    numbers = list(dict.fromkeys(row[key] for row in rows))
    names = list(dict.fromkeys(row["operation"] for row in rows))
    found = {(row["operation"], row[key]): row for row in rows}
    lines = []
    for name in names:
        cells = []
        for number in numbers:
            row = found.get((name, number))
            cells.append(
                f"{row['calls']} · {row['reads']:,g} · {row['writes']:,g} · ${row['dollars']:,.2f}"
                if row
                else ""
            )
        lines.append([name, *cells])
    return _table(["operation", *(f"{number:,} {unit}" for number in numbers)], lines)


def _check(results: Results) -> str:
    return _table(
        ["operation", "reads", "reported", "writes", "reported"],
        [
            [
                row["operation"],
                *(f"{row[name]:g}" for name in ("reads", "reported_reads")),
                *(f"{row[name]:g}" for name in ("writes", "reported_writes")),
            ]
            for row in results.cloud["check"]
        ],
    )


def _starts(results: Results) -> str:
    return _table(
        ["start", "ms", "over the least", "MB", "over the least"],
        [
            [
                *(row["name"], f"{1000 * row['seconds']:.0f}", _ratio(row["time_ratio"])),
                *(f"{row['megabytes']:.0f}", _ratio(row["memory_ratio"])),
            ]
            for row in results.cloud["starts"]
        ],
    )


def _handler(results: Results) -> str:
    return _table(
        ["operation", "calls", "handler, ms", "bare, ms", "ratio"],
        [
            [
                *(row["operation"], str(row["calls"])),
                *(f"{row['handler']:.2f}", f"{row['bare']:.2f}", _ratio(row["ratio"])),
            ]
            for row in results.cloud["handler"]
        ],
    )


def _operations(results: Results, way: str) -> list[str]:
    return list(
        dict.fromkeys(
            rate.operation for rate in results.rates if rate.way == way and rate.who == SERVICE
        )
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    marks = [*["---"] * texts, *["--:"] * (len(head) - texts)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, marks, *rows))


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{rate:,.0f}"


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"

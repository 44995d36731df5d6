"""What a run found: the raw table, and the ratios in it."""

import json
import os
import platform
import sqlite3
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

SERVICE, BARE, LIKE = "service", "bare", "LIKE baseline"
REFERENCE, VECTORS = "server-memory", "mcp-memory-service"
REST, HTTP, STDIO = "REST", "MCP over HTTP", "MCP over stdio"

_PACKAGES = (
    *("starlette", "uvicorn", "httptools", "uvloop", "pydantic", "aws-lambda-powertools"),
    *("mcp", "fastapi", "boto3", "moto", "matplotlib"),
)


@dataclass(frozen=True, slots=True)
class Rate:
    """Answers a second of one server in one situation, a figure for each round."""

    records: int
    operation: str
    way: str
    clients: int
    who: str
    rounds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)


@dataclass(slots=True)
class Results:
    """All figures of a run, as they are written to a file."""

    conditions: dict[str, Any]
    sizes: list[int] = field(default_factory=list)
    rates: list[Rate] = field(default_factory=list)
    cloud: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def middle(self) -> int:
        """The number of records that most goals are for."""
        return self.sizes[len(self.sizes) // 2]

    def find(self, records: int, operation: str, way: str, clients: int, who: str) -> Rate | None:
        for rate in self.rates:
            if (rate.records, rate.operation, rate.way, rate.clients, rate.who) == (
                *(records, operation, way, clients, who),
            ):
                return rate
        return None

    def ratio(
        self, records: int, operation: str, way: str, clients: int, other: str
    ) -> float | None:
        """Return the service's rate over another's: the median of the rounds' ratios."""
        ours = self.find(records, operation, way, clients, SERVICE)
        theirs = self.find(records, operation, way, clients, other)
        return None if ours is None or theirs is None else over(ours, theirs)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Results":
        kept = json.loads(path.read_text(encoding="utf-8"))
        return cls(**kept | {"rates": [Rate(**rate) for rate in kept["rates"]]})


def over(one: Rate, other: Rate) -> float:
    """Return the median of the ratios of two rates, each of one round."""
    pairs: Sequence[tuple[float, float]] = list(zip(one.rounds, other.rounds, strict=False))
    return statistics.median(a / b for a, b in pairs)


def conditions() -> dict[str, Any]:
    """Return what a run's figures depend on."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{name: version(name) for name in _PACKAGES},
    }


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()

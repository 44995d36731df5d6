"""What a cold start takes: the HTTP function's, beside the least that a function on these could be.

Each start is a process of its own; within a round they take turns.
"""

import statistics
import subprocess
import sys
from dataclasses import dataclass

LEAST = "boto3, pydantic and a client"
READY = "the HTTP function, ready to answer"

STARTS = {
    # What any function on these libraries does before its first request. Pydantic alone loads
    # nothing until a name is asked for.
    LEAST: "import boto3; from pydantic import BaseModel; boto3.client('dynamodb')",
    "the HTTP function's module": "import http_api.app",
    READY: "import http_api.app; http_api.app.deployed()",
}
ENVIRONMENT = {
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "MEMORIES_STORE": "dynamodb",
}
_PROGRAM = """
import re, resource, time
start = time.perf_counter()
{}
taken = time.perf_counter() - start
try:
    # What getrusage says can be of the program that started this one.
    (most,) = re.findall(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())
except OSError:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(taken, most)
"""


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds, and megabytes at the most, of which the interpreter alone has some."""

    name: str
    seconds: float
    megabytes: float
    # The medians of the rounds' ratios to the least.
    time_ratio: float
    memory_ratio: float


def measure(rounds: int) -> list[Start]:
    """Return each start, as the median of the rounds."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in STARTS}
    for _ in range(rounds):
        for name, code in STARTS.items():
            found[name].append(_start(code))
    least = found[LEAST]
    return [
        Start(
            name,
            statistics.median(seconds for seconds, _ in each),
            statistics.median(memory for _, memory in each),
            statistics.median(one[0] / other[0] for one, other in zip(each, least, strict=True)),
            statistics.median(one[1] / other[1] for one, other in zip(each, least, strict=True)),
        )
        for name, each in found.items()
    ]


def _start(code: str) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.replace("{}", code)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=True,
    )
    seconds, kilobytes = done.stdout.split()
    return float(seconds), int(kilobytes) / 1024

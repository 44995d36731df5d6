"""What a cold start spends on imports, and beside it what each operation costs in DynamoDB.

The HTTP function is measured beside the least that it could be. Each start is a process of its
own; they take turns, and the medians are compared. Run it with
``.venv/bin/python benchmarks/import_time.py``.
"""

import argparse
import statistics
import subprocess
import sys
from importlib.metadata import version

import costs

# What any function on these libraries does before its first request.
LEAST = "import boto3, pydantic; boto3.client('dynamodb')"

STARTS = {
    "boto3, pydantic and a client": LEAST,
    "the handler's module": "import http_api.app",
    "the handler, ready to answer": "import http_api.app; http_api.app.deployed()",
}
_ENVIRONMENT = {
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "MEMORIES_STORE": "dynamodb",
}
_TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


def main() -> None:
    """Print one line a start: milliseconds, and the ratio to the least."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    times: dict[str, list[float]] = {name: [] for name in STARTS}
    for _ in range(rounds):
        for name, code in STARTS.items():
            times[name].append(_seconds(code))
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    least = next(iter(medians.values()))
    libraries = ("boto3", "pydantic", "aws-lambda-powertools")
    print(f"Python {sys.version.split()[0]},", *(f"{name} {version(name)}" for name in libraries))
    for name, median in medians.items():
        print(f"{name:30} {1000 * median:6.0f} ms  {median / least:.2f}")
    print("\nCapacity units, and dollars for a million:")
    costs.main()


def _seconds(code: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _TIMED.format(code)],
        capture_output=True,
        text=True,
        env=_ENVIRONMENT,
        check=True,
    )
    return float(done.stdout)


if __name__ == "__main__":
    main()

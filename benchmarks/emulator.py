"""The units that are counted here, beside those that an emulator reports for the same calls."""

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import boto3
from mypy_boto3_dynamodb import DynamoDBClient

import costs
from installed import python_package

PACKAGE = "ministack"
VERSION = "1.5.33"

_MEMORIES = 30
# In seconds.
_START_TIMEOUT = 60


@dataclass(frozen=True, slots=True)
class Check:
    """Units of one operation: counted by the rules, and reported by the emulator."""

    operation: str
    reads: float
    writes: float
    reported_reads: float
    reported_writes: float


def measure(folder: Path) -> list[Check]:
    """Return a row for each operation. Raises NotInstallable, TimeoutError."""
    with _running(folder) as client:
        user = costs.User(client, costs.USUAL, _MEMORIES)
        return [
            Check(name, used.reads, used.writes, reported.reads, reported.writes)
            for name, used, reported in user.checked()
        ]


@contextmanager
def _running(folder: Path) -> Iterator[DynamoDBClient]:
    home = python_package(PACKAGE, VERSION)
    port = _free_port()
    settings = {"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port), "TMPDIR": str(folder)}
    settings |= {"IOT_MTLS_ENABLED": "0", "SFTP_ENABLED": "0"}
    process = subprocess.Popen(
        [home / "bin" / "ministack"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=os.environ | settings,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(f"{url}/_ministack/health")
        client = boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name=costs.REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        costs.create_tables(client)
        yield client
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + _START_TIMEOUT
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"{PACKAGE} did not start within {_START_TIMEOUT} s")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port

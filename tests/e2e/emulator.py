"""An AWS on this machine: DynamoDB, Lambda, API Gateway, IAM and the rest, on a free port."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import boto3
import httpx

from e2e.tools import Tools

REGION = "us-east-1"
# The emulator's root user. To other keys it gives what IAM gives them.
_KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}

Found = TypeVar("Found")


@dataclass(frozen=True)
class Emulator:
    """A running emulator."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, service: str) -> Any:
        """Return a boto3 client of a service."""
        return boto3.client(  # type: ignore[call-overload]
            service, endpoint_url=self.url, region_name=REGION, **_KEYS
        )

    def variables(self) -> dict[str, str]:
        """Return the environment variables that lead a program here."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
            **{name.upper(): value for name, value in _KEYS.items()},
        }


@contextmanager
def running(tools: Tools, directory: Path) -> Iterator[Emulator]:
    """Start an emulator that keeps its files in ``directory``, and stop it and its functions."""
    emulator = Emulator(_free_port())
    directory.mkdir()
    log = directory / "emulator.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [tools.bin / "ministack"],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=directory,
            # With the functions' processes in a group of their own, to be ended together.
            start_new_session=True,
            env=tools.environment(
                AWS_DEFAULT_REGION=REGION,
                BIND_HOST="127.0.0.1",
                GATEWAY_PORT=str(emulator.port),
                # Roles may do what their policies say and nothing else.
                AUTH="true",
                IOT_MTLS_ENABLED="0",
                SFTP_ENABLED="0",
                TMPDIR=str(directory),
            ),
        )
    try:
        eventually(lambda: _answers(process, emulator, log), seconds=60)
        yield emulator
    finally:
        _stop(process)


def eventually(look: Callable[[], Found | None], seconds: float) -> Found:
    """Return what ``look`` finds, as soon as it finds something; fail after ``seconds``."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} seconds")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=20)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _answers(process: subprocess.Popen[bytes], emulator: Emulator, log: Path) -> bool:
    assert process.poll() is None, log.read_text()
    try:
        return httpx.get(f"{emulator.url}/_ministack/health").is_success
    except httpx.TransportError:
        return False


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port

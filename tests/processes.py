"""Server processes, started as a user starts them."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from http_client import SocketClient


class Server:
    def __init__(self, data: Path, options: Sequence[str], environment: Mapping[str, str]) -> None:
        command = ["serve", "--port", "0", "--data", str(data), *options]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "local.cli", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TZ": "Asia/Tokyo", **environment},
        )
        assert self.process.stdout
        self.banner = [self.process.stdout.readline().strip() for _ in range(3)]
        assert self.banner[0], self.process.communicate()
        self.url = self.banner[0].split()[3].rstrip(",")
        self.client = SocketClient(self.url)
        self.output: str | None = None

    def stop(self, with_signal: signal.Signals) -> tuple[int, str]:
        """Send the signal, wait, and return the exit code and all further output."""
        if self.output is None:
            self.process.send_signal(with_signal)
            self.output = "".join(self.process.communicate(timeout=20))
            self.client.client.close()
        return self.process.returncode, self.output


@contextmanager
def server_on(
    data: Path, *options: str, environment: Mapping[str, str] | None = None
) -> Iterator[Server]:
    server = Server(data, options, environment or {})
    try:
        yield server
    finally:
        server.stop(signal.SIGKILL)

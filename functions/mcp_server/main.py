"""The container's program: the remote server, by the settings in the environment."""

import os
import signal
import socket
import sys
from collections.abc import Mapping

from mcp_server.metadata import resource_of
from mcp_server.remote import build_remote, build_verifier
from mcp_server.serving import run
from memories.bootstrap import build_service, build_store
from memories.config import InvalidSetting, Settings
from memories.stores.sqlite.file import UnusableDataFile


def main(environment: Mapping[str, str] = os.environ) -> int:
    """Serve until told to stop, and return the exit code: 0 stopped, 1 could not serve."""
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C
        serve(Settings.from_environment(environment))
    except (InvalidSetting, OSError, OverflowError, UnusableDataFile) as error:
        print(f"memories: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass  # It was told to stop, and has stopped.
    return 0


def serve(settings: Settings) -> None:
    """Serve until interrupted. Raises InvalidSetting, OSError, OverflowError, UnusableDataFile."""
    verifier = build_verifier(settings)
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    store = build_store(settings)
    try:
        with socket.create_server(
            (settings.host, settings.port), family=family, backlog=2048
        ) as listener:
            app = build_remote(build_service(settings, store), verifier, settings)
            host, port, *_ = listener.getsockname()
            print(f"memories serves {resource_of(settings)} on {host} port {port}", flush=True)
            run(app, listener, settings.connections)
    finally:
        store.close()


if __name__ == "__main__":
    sys.exit(main())

"""The server that a soak runs against: both doors over one store, for the users that callers name.

Whom the headers name is believed, as loopback is all that it is served on. The listening socket is
inherited: while the process is killed and started again, connections wait in it.
"""

import argparse
import json
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from http_api.app import Handler, build_handler
from http_client import claims_of
from local.gateway import Gateway
from local.identity import AGENT_HEADER
from local.server import LOOPBACK_HOSTS, compose
from mcp_server.http import build_app
from mcp_server.server import Context, build_server
from mcp_server.serving import run
from memories.bootstrap import build_service, build_store
from memories.config import Settings
from memories.principal import Principal, principal_of
from memories.stores.port import Store

USER_HEADER = "x-user-id"


def application(store: Store) -> ASGIApp:
    settings = Settings()
    service = build_service(settings, store)
    handler = build_handler(service, settings)
    return compose(
        Gateway(_for_users(handler)), build_app(build_server(service, _identify), LOOPBACK_HOSTS)
    )


def _for_users(handler: Handler) -> Handler:
    def for_user(event: dict[str, Any], context: Any) -> dict[str, Any]:
        headers = event["headers"]
        claims = claims_of(headers[USER_HEADER], headers[AGENT_HEADER])
        event["requestContext"]["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
        return handler(event, context)

    return for_user


def _identify(context: Context) -> Principal:
    assert context.request
    headers = context.request.headers
    return principal_of(claims_of(headers[USER_HEADER], headers[AGENT_HEADER]))


@contextmanager
def _sqlite(data: str) -> Iterator[Store]:
    store = build_store(Settings(data=Path(data)))
    yield store
    store.close()


@contextmanager
def _moto(seed: str) -> Iterator[Store]:
    # Loaded when needed: a server that is killed and started again and again is to start soon.
    from soak.faults import faulty_store  # noqa: PLC0415

    with faulty_store(int(seed)) as (store, faults):
        yield store
        print(json.dumps(faults.counts), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("listener", type=int)
    parser.add_argument("store", choices=["sqlite", "moto"])
    parser.add_argument("where", help="sqlite: the data file; moto: the seed of the faults")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    opened = _sqlite if asked.store == "sqlite" else _moto
    with opened(asked.where) as store, socket.socket(fileno=asked.listener) as listener:
        print("serves", flush=True)
        with suppress(KeyboardInterrupt):
            run(application(store), listener, Settings().connections)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What web pages of the origins that are let in may send to the HTTP API, and read of its answers.

In the cloud the gateway says it, by the template. Here it is the same, and the name of the agent.
"""

from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
SENT = [
    "authorization",
    "content-type",
    "idempotency-key",
    "if-match",
    "x-agent-id",
    "x-request-id",
]
READ = [
    "etag",
    "idempotent-replayed",
    "link",
    "location",
    "ratelimit",
    "ratelimit-policy",
    "retry-after",
    "www-authenticate",
    "x-request-id",
]

# How long a browser keeps this in mind, in seconds.
_MAX_AGE = 3600


def open_to(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Return ``app``, open to web pages of the origins; as it is, where there are none."""
    if not origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=origins,
        allow_methods=METHODS,
        allow_headers=SENT,
        expose_headers=READ,
        max_age=_MAX_AGE,
    )

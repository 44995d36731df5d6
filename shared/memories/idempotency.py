"""Requests that are the same: what their keys stand for, and which of them are running."""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Lock

from memories.errors import RequestInProgress
from memories.models import MemoryDraft
from memories.principal import Principal
from memories.stores.port_idempotency import KeyedRequest

KEPT = timedelta(hours=24)
"""How long a key is known."""


def keyed_request(
    key: str, operation: str, drafts: Sequence[MemoryDraft], at: datetime
) -> KeyedRequest:
    """Return the request to record ``drafts`` by one of the operations, in the form to keep."""
    asked = [
        # A default that is sent asks for the same as one that is not.
        draft.model_dump(include={*MemoryDraft.model_fields}, exclude_defaults=True)
        for draft in drafts
    ]
    return KeyedRequest(
        key=_digest(key),
        # With the key: nobody can find out by trying what a short memory says.
        fingerprint=_digest(json.dumps([key, operation, asked], sort_keys=True)),
        at=math.floor(at.timestamp()),
        expires_at=math.ceil(at.timestamp() + KEPT.total_seconds()),
    )


class RunningRequests:
    """The keys of the requests that this process is at work on."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._keys: set[tuple[str, str, str]] = set()

    @contextmanager
    def only(self, principal: Principal, request: KeyedRequest) -> Iterator[None]:
        """Run the block as the only request with its key. Raises RequestInProgress."""
        key = (principal.user_id, principal.agent_id, request.key)
        with self._lock:
            if key in self._keys:
                raise RequestInProgress
            self._keys.add(key)
        try:
            yield
        finally:
            with self._lock:
                self._keys.remove(key)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

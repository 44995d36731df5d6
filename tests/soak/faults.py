"""Faults of DynamoDB, injected into the requests of a client that moto answers."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

from botocore.exceptions import ClientError, ReadTimeoutError
from moto import mock_aws
from moto.core.models import botocore_stubber
from mypy_boto3_dynamodb import DynamoDBClient

from dynamodb.moto_table import new_table
from memories.bootstrap import ATTEMPTS, build_client
from memories.config import Settings
from memories.stores.dynamodb import DynamoDBStore

# How often a request fails in each way.
_RATES = {
    # It is refused before it has an effect.
    "throttled": 0.02,
    # It never arrives.
    "timed out before": 0.02,
    # It has its effect and the answer is lost, so the next attempt at it is a second delivery.
    "delivered twice": 0.03,
    # It seems lost, and arrives after the next attempt at it, when others have been at work.
    "delivered late": 0.02,
}
# After a fault, the next attempt of the same call fails too, so often.
_AGAIN = 0.2
# How many further requests a late one arrives after, at most.
_LATEST = 20

_LOST = ReadTimeoutError(endpoint_url="https://dynamodb.example")
_THROTTLED = ClientError(
    {
        "Error": {"Code": "ProvisionedThroughputExceededException", "Message": ""},
        "ResponseMetadata": {"HTTPStatusCode": 400},  # type: ignore[typeddict-item]
    },
    "AnyOperation",
)


@contextmanager
def faulty_store(seed: int) -> Iterator[tuple[DynamoDBStore, Faults]]:
    """Yield a store over an empty table on moto, and the faults of its requests."""
    os.environ["AWS_DEFAULT_REGION"] = "eu-central-1"
    with mock_aws():
        client = build_client(Settings())
        with new_table(client) as table:
            faults = Faults(seed)
            faults.inject(client)
            store = DynamoDBStore(client, table)
            yield store, faults
            faults.cease()
            store.close()


class Faults:
    """Stands between a client and moto. Each request is answered alone, as a whole."""

    def __init__(self, seed: int) -> None:
        self.counts: Counter[str] = Counter(dict.fromkeys([*_RATES, "requests"], 0))
        self._random = random.Random(seed)
        self._lock = RLock()
        self._late: list[tuple[int, Any]] = []
        self._ceased = False

    def inject(self, client: DynamoDBClient) -> None:
        events: Any = client.meta.events
        # All handlers are called, also after one that answers: this one is to be the only one.
        events.unregister("before-send", botocore_stubber)
        events.register_first("before-send.dynamodb", self._answer)
        events.register_first("needs-retry.dynamodb", self._retry_at_once)

    def cease(self) -> None:
        """Let all further requests through."""
        self._ceased = True

    def _answer(self, event_name: str, request: Any, **_: Any) -> Any:
        with self._lock:
            self.counts["requests"] += 1
            self._deliver_late(event_name)
            fault = None if self._ceased else self._fault(request)
            if fault:
                self.counts[fault] += 1
            if fault == "throttled":
                raise _THROTTLED
            if fault == "delivered late":
                at = self.counts["requests"] + self._random.randint(1, _LATEST)
                self._late.append((at, request))
            if fault in {"timed out before", "delivered late"}:
                raise _LOST
            answer = botocore_stubber(event_name, request)
            if fault == "delivered twice":
                raise _LOST
            return answer

    def _deliver_late(self, event_name: str) -> None:
        due = [request for at, request in self._late if at <= self.counts["requests"]]
        self._late = [(at, each) for at, each in self._late if at > self.counts["requests"]]
        for request in due:
            botocore_stubber(event_name, request)

    def _fault(self, request: Any) -> str | None:
        is_repeat = "attempt=1;" not in _text(request.headers.get("amz-sdk-request", "attempt=1;"))
        if is_repeat and self._random.random() < _AGAIN:
            return self._random.choice(list(_RATES))
        chance = self._random.random()
        for fault, rate in _RATES.items():
            chance -= rate
            if chance < 0:
                return fault
        return None

    def _retry_at_once(
        self, attempts: int, caught_exception: Exception | None, **_: Any
    ) -> float | None:
        injected = caught_exception is _LOST or caught_exception is _THROTTLED
        return 0 if injected and attempts < ATTEMPTS else None


def _text(header: Any) -> str:
    return header.decode() if isinstance(header, bytes) else str(header)

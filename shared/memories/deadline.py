"""How long a request may take: until when a store begins another call for it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from memories.errors import StoreUnavailable

Seconds = Callable[[], float]

_over: ContextVar[Callable[[], bool]] = ContextVar("over", default=lambda: False)


@contextmanager
def within(seconds: float, clock: Seconds = time.monotonic) -> Iterator[None]:
    """Do what is within the block, but begin no call for it after so long."""
    end = clock() + seconds
    token = _over.set(lambda: clock() >= end)
    try:
        yield
    finally:
        _over.reset(token)


def check() -> None:
    """Raise StoreUnavailable if the time of this request is over."""
    if _over.get()():
        raise StoreUnavailable

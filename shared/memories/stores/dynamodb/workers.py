"""Threads for calls that are made side by side."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

Result = TypeVar("Result")


class Workers(ThreadPoolExecutor):
    """Threads that keep to the time limit of the request that they work for."""

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        return super().submit(copy_context().run, fn, *args, **kwargs)

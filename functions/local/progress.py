"""How far a long command is, shown while it runs; on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(told: str, size: int | None) -> Iterator[Callable[[int], None]]:
    """Yield what is to be told of each further part that is done, of ``size`` in all if known."""
    if not sys.stderr.isatty():
        yield lambda part: None
        return
    # Loaded where it is seen.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(told, total=size)
        yield lambda part: shown.advance(task, part)

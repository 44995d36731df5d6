"""A clock that stands still until it is moved."""

from datetime import UTC, datetime, timedelta

from memories.fields import timestamp


class Clock:
    def __init__(self) -> None:
        self.moment = datetime(2026, 4, 6, 14, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def advance(self, seconds: float = 1) -> str:
        """Move on (or back, when negative) and return the new time as the service writes it."""
        self.moment += timedelta(seconds=seconds)
        return self.now

    @property
    def now(self) -> str:
        return timestamp(self.moment)


class BackwardClock(Clock):
    """A clock that is set back where others move on, but for time that is said to pass."""

    def advance(self, seconds: float | None = None) -> str:
        return super().advance(-1 if seconds is None else seconds)


class HostClock:
    """The clock of a host, in seconds: the time, which passes, and how far the clock is off."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.off = 0.0

    def __call__(self) -> float:
        return 1_775_484_720 + self.passed + self.off

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

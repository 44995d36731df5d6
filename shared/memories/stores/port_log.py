"""What the service asks of a store's access log.

A store writes it itself: for each memory that it marks as accessed, changes, or has another refer
to. How long entries are kept is told to it when it is made.
"""

from typing import Literal, NamedTuple, Protocol

AccessType = Literal["read", "update", "reference"]

# How long entries are kept unless it is said, in days.
LOG_DAYS = 90


class Access(NamedTuple):
    """One entry: when a memory was accessed, how, and by which agent."""

    accessed_at: str
    access_type: AccessType
    agent_id: str


class AccessLog(Protocol):
    """The accesses of every memory."""

    def page(
        self, user_id: str, memory_id: int, since: str, limit: int, offset: int
    ) -> tuple[list[Access], int]:
        """Return a part of the accesses after ``since``, newest first, and how many there are."""

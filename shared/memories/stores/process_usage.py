"""Requests counted by one process, of those that it serves itself."""

from collections import Counter
from threading import Lock

from memories.stores.port_usage import Limits, Party

# So many in one window, and the counts begin anew: better than to count on without an end.
_MOST_COUNTS = 20_000


class ProcessUsage:
    """Counts of the present window, in memory."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._window = 0
        self._counts: Counter[tuple[str, ...]] = Counter()

    def count(self, user_id: str, agent_id: str, window: int, limits: Limits) -> Party | None:
        user, agent = (user_id,), (user_id, agent_id)
        with self._lock:
            if window != self._window or len(self._counts) > _MOST_COUNTS:
                self._window = window
                self._counts.clear()
            if limits.agent and self._counts[agent] >= limits.agent:
                return "agent"
            if limits.user and self._counts[user] >= limits.user:
                return "user"
            self._counts.update([user, agent])
        return None

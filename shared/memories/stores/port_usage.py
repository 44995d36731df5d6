"""What the service asks of a store about how much a user and their agents ask for."""

from typing import Literal, NamedTuple, Protocol

Party = Literal["user", "agent"]


class Limits(NamedTuple):
    """The most requests in a window, of a user and of each agent of theirs. 0: no limit."""

    user: int = 0
    agent: int = 0


class Usage(Protocol):
    """Counts requests, in windows of time that begin at full multiples of their length."""

    def count(self, user_id: str, agent_id: str, window: int, limits: Limits) -> Party | None:
        """Count a request in the window that begins then, in seconds of the Unix time.

        Where a limit is reached, return whose it is; then the request is not counted.
        """

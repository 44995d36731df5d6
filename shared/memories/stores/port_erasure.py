"""What the service asks of a store about erasing a user, or one of their agents."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

# What a receipt counts. All else of a user is erased too, and not worth a number.
KINDS = ("memories", "agents", "relations", "log_entries")


class Progress(NamedTuple):
    """How far an erasure is: what it has erased since it began, by kind."""

    started_at: str
    erased: Mapping[str, int]
    complete: bool


class Erasure(Protocol):
    """Erases in steps, each of them wholly or not at all together with its counts.

    A call takes a bounded number of steps, so that it ends in time and keeps nobody waiting. What
    is not complete then, or failed, goes on with the next call.
    """

    def erase_user(self, user_id: str, at: str) -> Progress:
        """Go on with erasing all that is the user's, or begin with it."""

    def erase_agent(self, user_id: str, agent_id: str, at: str) -> Progress | None:
        """Go on with erasing an agent and the memories it made, or begin with it.

        None if there is no such agent.
        """

"""What the service asks of a store about users and their agents."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol


class AgentRecord(NamedTuple):
    """An agent of a user."""

    agent_id: str
    # When it was first seen.
    created_at: str
    name: str | None
    capabilities: tuple[str, ...]


class UserRecord(NamedTuple):
    """A user. ``created_at`` is None for one that nothing is known of."""

    created_at: str | None
    metadata: dict[str, str]


class Accounts(Protocol):
    """Keeps the users and their agents, each user's apart."""

    def register(self, user_id: str, agent_id: str, at: str) -> None:
        """Keep the agent, as first seen now, unless it is kept already.

        It is called for every request. What was made sure of need not be made sure of again for
        some minutes.
        """

    def agents(self, user_id: str, limit: int, offset: int) -> tuple[list[AgentRecord], int]:
        """Return a part of the agents, first seen first, then by id; and how many there are."""

    def agent(self, user_id: str, agent_id: str) -> AgentRecord | None:
        """Return one agent."""

    def describe(
        self, user_id: str, agent_id: str, name: str | None, capabilities: tuple[str, ...], at: str
    ) -> AgentRecord:
        """Set what an agent is called and can do, and register it first if it is not."""

    def user(self, user_id: str) -> UserRecord:
        """Return what is known of the user."""

    def set_metadata(
        self, user_id: str, expected: UserRecord, metadata: Mapping[str, str], at: str
    ) -> bool:
        """Set the user's metadata if it is as ``expected``; say whether it was.

        A user that nothing is known of is created at ``at``.
        """

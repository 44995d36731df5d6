"""Who of a user's agents may read a memory, and who may change it. Pure.

The stores put the same two rules into their filters; a test holds them against these.
"""

from typing import Protocol


class Granted(Protocol):
    """What the rules look at."""

    @property
    def agent_id(self) -> str:
        """The agent that made it."""

    @property
    def is_public(self) -> bool: ...

    @property
    def read_only(self) -> bool: ...

    @property
    def shared_with_agents(self) -> tuple[str, ...]: ...


def may_read(memory: Granted, agent_id: str) -> bool:
    """The maker may, anyone if it is public, and those it is shared with. No one else."""
    return memory.agent_id == agent_id or memory.is_public or agent_id in memory.shared_with_agents


def may_change(memory: Granted, agent_id: str) -> bool:
    """The maker may, and those who may read unless it is read-only for them."""
    return memory.agent_id == agent_id or (may_read(memory, agent_id) and not memory.read_only)

"""The use cases of users and their agents: who there is, what they are called, what they hold."""

from collections.abc import Callable, Mapping
from typing import Any

from memories.account_models import (
    MAX_METADATA,
    Agent,
    AgentDescription,
    AgentPage,
    AgentQuery,
    Me,
    MemoryCounts,
    MePatch,
)
from memories.clock import Clock
from memories.errors import AgentNotFound, InvalidInput, Problem, WriteConflict
from memories.fields import timestamp
from memories.principal import ADMIN, READ, WRITE, Principal
from memories.stores.port import Selection, Store
from memories.stores.port_accounts import AgentRecord

# A change of metadata that loses this many races in a row answers WriteConflict.
MAX_TRIES = 8


class AccountService:
    """Registers, describes and lists agents, and tells of the user."""

    def __init__(self, store: Store, clock: Clock, pause: Callable[[int], None]) -> None:
        self._store = store
        self._clock = clock
        self._pause = pause

    def seen(self, principal: Principal) -> None:
        """Register the agent that asks. Both doors say so of each request, whatever it asks for."""
        self._store.accounts.register(principal.user_id, principal.agent_id, self._now())

    def agents(self, principal: Principal, query: AgentQuery) -> AgentPage:
        """Return a part of the user's agents, those first seen first."""
        principal.require(READ)
        records, total = self._store.accounts.agents(principal.user_id, query.limit, query.offset)
        return AgentPage(
            items=[_agent(record) for record in records],
            total=total,
            limit=query.limit,
            offset=query.offset,
            has_more=query.offset + len(records) < total,
        )

    def agent(self, principal: Principal, agent_id: str) -> Agent:
        """Return one agent. Raises AgentNotFound."""
        principal.require(READ)
        record = self._store.accounts.agent(principal.user_id, agent_id)
        if record is None:
            raise AgentNotFound
        return _agent(record)

    def describe(self, principal: Principal, agent_id: str, description: AgentDescription) -> Agent:
        """Describe an agent: itself, or as an administrator any, which is registered by it."""
        principal.require(WRITE if agent_id == principal.agent_id else ADMIN)
        return _agent(
            self._store.accounts.describe(
                principal.user_id,
                agent_id,
                description.name,
                tuple(description.capabilities),
                self._now(),
            )
        )

    def me(self, principal: Principal) -> Me:
        """Tell of the user, and count what the agent may see of theirs; nothing is marked."""
        principal.require(READ)
        return self._me(principal)

    def revise_me(self, principal: Principal, patch: MePatch) -> Me:
        """Merge metadata into the user's. Raises InvalidInput, and WriteConflict for lost races."""
        principal.require(WRITE)
        for tries in range(1, MAX_TRIES + 1):
            user = self._store.accounts.user(principal.user_id)
            metadata = _merged(user.metadata, patch.metadata or {})
            if metadata == user.metadata or self._store.accounts.set_metadata(
                principal.user_id, user, metadata, self._now()
            ):
                return self._me(principal)
            self._pause(tries)
        raise WriteConflict("The user")

    def _me(self, principal: Principal) -> Me:
        now = self._now()
        user = self._store.accounts.user(principal.user_id)
        _, agents = self._store.accounts.agents(principal.user_id, limit=0, offset=0)
        return Me(
            user_id=principal.user_id,
            created_at=user.created_at or now,
            metadata=user.metadata,
            memories=MemoryCounts(
                active=self._count(principal, "active", now),
                invalid=self._count(principal, "invalid", now),
                deleted=self._count(principal, "deleted", now),
            ),
            agents=agents,
        )

    def _count(self, principal: Principal, status: str, now: str) -> int:
        every = Selection(status, None, tag=None, text=None, sort="id", limit=0, offset=0)
        return self._store.count(principal, every, now)

    def _now(self) -> str:
        return timestamp(self._clock())


def _agent(record: AgentRecord) -> Agent:
    return Agent(
        agent_id=record.agent_id,
        name=record.name,
        capabilities=list(record.capabilities),
        created_at=record.created_at,
    )


def _merged(current: Mapping[str, str], patch: Mapping[str, Any]) -> dict[str, str]:
    merged = {**current, **patch}
    kept = {key: value for key, value in merged.items() if value is not None}
    if len(kept) > MAX_METADATA:
        raise InvalidInput(
            [
                Problem(
                    "metadata_count",
                    ("body", "metadata"),
                    f"must hold {MAX_METADATA} keys at most, those kept included; "
                    "set some to null to remove them",
                )
            ]
        )
    return kept

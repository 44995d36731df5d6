"""The use cases of erasure: of a user, or of one of their agents, each with a receipt."""

from memories.account_models import Erased, Receipt
from memories.clock import Clock
from memories.errors import AgentNotFound
from memories.fields import timestamp
from memories.principal import ADMIN, Principal
from memories.stores.port_erasure import Erasure, Progress


class ErasureService:
    """Erases for good, step by step: who asks repeats it until the receipt is complete."""

    def __init__(self, store: Erasure, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def erase_user(self, principal: Principal) -> Receipt:
        """Erase all that is the user's."""
        principal.require(ADMIN)
        progress = self._store.erase_user(principal.user_id, self._now())
        return self._receipt(principal, None, progress)

    def erase_agent(self, principal: Principal, agent_id: str) -> Receipt:
        """Erase an agent and the memories it made. Raises AgentNotFound."""
        principal.require(ADMIN)
        progress = self._store.erase_agent(principal.user_id, agent_id, self._now())
        if progress is None:
            raise AgentNotFound
        return self._receipt(principal, agent_id, progress)

    def _receipt(self, principal: Principal, agent_id: str | None, progress: Progress) -> Receipt:
        return Receipt(
            user_id=principal.user_id,
            agent_id=agent_id,
            complete=progress.complete,
            erased=Erased(**progress.erased),
            started_at=progress.started_at,
            finished_at=self._now() if progress.complete else None,
        )

    def _now(self) -> str:
        return timestamp(self._clock())

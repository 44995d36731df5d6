"""The access log of a memory: who used it, when, and how."""

from collections.abc import Callable
from datetime import datetime, timedelta

from pydantic import Field

from memories.base_model import Model
from memories.fields import MAX_LIMIT, Limit, Offset, Timestamp, timestamp
from memories.models import MemoryQuery
from memories.permission import readable
from memories.principal import READ, Principal
from memories.stores.port import Store
from memories.stores.port_log import AccessType


class LogQuery(Model):
    """Which part of a log."""

    model_config = MemoryQuery.model_config

    limit: Limit = 10
    offset: Offset = 0


class LoggedAccess(Model):
    """One access of a memory."""

    accessed_at: Timestamp
    access_type: AccessType = Field(
        description="A read marks it as accessed; an update makes it the next version; a reference "
        "is another memory's relation to it"
    )
    agent_id: str


class LogPage(Model):
    """A part of a memory's log, newest first, and how many accesses there are in all."""

    items: list[LoggedAccess]
    total: int = Field(ge=0)
    limit: int = Field(ge=1, le=MAX_LIMIT)
    offset: int = Field(ge=0)
    has_more: bool


class Log:
    """Shows the access log to who may read the memory."""

    def __init__(self, store: Store, clock: Callable[[], datetime], days: int) -> None:
        """``days`` is how long an access is shown."""
        self._store = store
        self._clock = clock
        self._kept = timedelta(days=days)

    def page(self, principal: Principal, memory_id: int, query: LogQuery) -> LogPage:
        """Return a page of the log. To look at it is no access. Raises MemoryNotFound."""
        principal.require(READ)
        readable(self._store.get(principal, memory_id), principal, memory_id)
        found, total = self._store.log.page(
            principal.user_id,
            memory_id,
            timestamp(self._clock() - self._kept),
            query.limit,
            query.offset,
        )
        return LogPage(
            items=[LoggedAccess(**access._asdict()) for access in found],
            total=total,
            limit=query.limit,
            offset=query.offset,
            has_more=query.offset + len(found) < total,
        )

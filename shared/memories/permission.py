"""What a principal may do with a stored record: the record, or the error that says why not."""

from memories.errors import MemoryNotFound, NotPermitted, VersionMismatch
from memories.grants import may_change, may_read
from memories.principal import Principal
from memories.stores.port import Record
from memories.views import memory_of


def readable(record: Record | None, principal: Principal, memory_id: int) -> Record:
    """Return the record if it is there, for this agent too. Raises MemoryNotFound."""
    if record is None or record.status == "deleted" or not may_read(record, principal.agent_id):
        raise MemoryNotFound(memory_id)
    return record


def changeable(
    record: Record | None, principal: Principal, memory_id: int, expected_version: int | None
) -> Record:
    """Return the record if the agent may change it, at the version if one is expected.

    Raises MemoryNotFound, NotPermitted, VersionMismatch.
    """
    record = readable(record, principal, memory_id)
    if not may_change(record, principal.agent_id):
        raise NotPermitted("This memory is read-only for all but the agent that made it")
    if expected_version not in (None, record.version):
        raise VersionMismatch(memory_of(record))
    return record

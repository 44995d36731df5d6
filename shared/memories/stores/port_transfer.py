"""What the transfer of whole records asks of a store, besides its memories."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from memories.principal import Principal
from memories.stores.port import Record

# Records keep ids up to this. A higher one would use up the ids that are left to be given: the
# smaller store counts to twice as many.
MAX_KEPT_ID = 2**31 - 1

# What the origin of a record begins with that came with an id.
NUMBERED = "id:"


class Arrival(NamedTuple):
    """A record that comes from elsewhere.

    ``record.id`` is the id that it would have, or 0 for any. ``origin`` tells it from every other
    arrival, whatever id each of them gets.
    """

    record: Record
    origin: str


def highest_kept(arrivals: Sequence[Arrival]) -> int:
    """Return the highest id that an arrival may keep: the new ones come after it. 0 for none."""
    return max((each.record.id for each in arrivals if each.record.id <= MAX_KEPT_ID), default=0)


class Placed(NamedTuple):
    """Under which id an arrival is, and whether it is new there."""

    id: int
    is_new: bool


class Part(NamedTuple):
    """Some records in the order of their ids, and the id to go on after, if there may be more."""

    records: Sequence[Record]
    more: int | None


class TransferStore(Protocol):
    """Reads and takes in the records of a user whole, as they are."""

    def read(self, principal: Principal, after: int, limit: int) -> Part:
        """Return what may be read, of any status, with the first ids above ``after``.

        At most ``limit``, and fewer where many may not be read. No trace is left.
        """

    def place(self, principal: Principal, arrivals: Sequence[Arrival], at: str) -> list[Placed]:
        """Store the arrivals that are not here yet, and say where each is.

        One is here if the record under its id has the same maker and time of creation, or if it
        was placed before. It gets its id where no record has it and it is at most MAX_KEPT_ID,
        else a new one. ``at`` is the present. Those stored before a failure stay; to place all
        again stores the others only.
        """


def is_same(record: Record, origin: str | None, arrival: Arrival) -> bool:
    """Say whether the record under an arrival's id is what arrives.

    It is known by what never changes. ``origin`` is that of a record that could not have the id it
    came with, if it had one. Others of its collection may be made at its time, so the arrival is
    such a record itself, come back from here, only if it has the same text.
    """
    if origin == arrival.origin:
        return True
    arriving = arrival.record
    made = (record.created_at, record.agent_id) == (arriving.created_at, arriving.agent_id)
    moved = origin is not None and origin.startswith(NUMBERED)
    return made and (not moved or record.content == arriving.content)

"""A listing: which memories an agent asks for, in the terms of the table."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from memories.principal import Principal
from memories.stores.dynamodb import keys
from memories.stores.dynamodb.expressions import Condition, all_of, readable_by, selected
from memories.stores.dynamodb.items import SORT_ATTRIBUTES, Item, matches
from memories.stores.port import Selection

_INDEXES = {
    "created_sort": "by_created_at",
    "updated_sort": "by_updated_at",
    "accessed_sort": "by_last_accessed_at",
}


@dataclass(frozen=True)
class Listing:
    """A selection of what a principal may read, as of the time that the request began.

    ``now`` is by the clock that memories are created by, ``began`` by the host's: see stamps.
    """

    principal: Principal
    selection: Selection
    now: str
    began: float

    @property
    def user_id(self) -> str:
        return self.principal.user_id

    @property
    def attribute(self) -> str:
        """The attribute that it is sorted by."""
        return SORT_ATTRIBUTES[self.selection.sort]

    @property
    def index(self) -> str:
        """The index that is in its order."""
        return _INDEXES[self.attribute]

    @cached_property
    def filter(self) -> Condition:
        return all_of(selected(self.selection), readable_by(self.principal.agent_id))

    def has(self, item: Item) -> bool:
        """Say whether a memory is in it, as the item has it."""
        return matches(item, self.selection, self.principal.agent_id)

    def values(self, items: Iterable[Item]) -> dict[int, str]:
        """Return what it sorts items by, by their ids."""
        found = (item[self.attribute]["S"] for item in items)
        return {keys.id_in(value): value for value in found}


@dataclass(frozen=True)
class Walk:
    """Where the walk down the index of a listing was left.

    ``top`` is the highest sort value met, and ``size`` about how many entries the index has.
    """

    top: str
    next_key: Item
    size: int


@dataclass
class Matches:
    """The ids of all memories of a listing, and the sort values that are known of them.

    With a ``walk``, there are more values to know.
    """

    ids: set[int]
    values: dict[int, str]
    walk: Walk | None = None

    def put(self, memory_id: int, value: str) -> None:
        self.ids.add(memory_id)
        self.values[memory_id] = value

    def drop(self, memory_id: int) -> None:
        self.ids.discard(memory_id)
        self.values.pop(memory_id, None)

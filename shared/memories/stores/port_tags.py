"""What the service asks of a store about tags."""

from typing import NamedTuple, Protocol

from memories.principal import Principal


class TagUse(NamedTuple):
    """A tag, and how many memories have it."""

    tag: str
    memories: int


class TagStore(Protocol):
    """Counts the tags of what may be read and is not deleted, and marks nothing as accessed."""

    def in_use(self, principal: Principal, limit: int, offset: int) -> tuple[list[TagUse], int]:
        """Return a part of the tags, and the number of all.

        Those that most memories have come first, and of as many the first in the order of text.
        """

"""What the lifecycle asks of a store: who has memories, how they are used, and changes of them.

No principal asks here, and no grants apply. A change is made only to a memory that is still as it
was found, so that two runs at once do each change once, and a person's own change wins.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from memories.fields import Status


class Candidate(NamedTuple):
    """What the policies look at, of one memory. Neither content nor tags are read."""

    user_id: str
    id: int
    status: Status
    importance: int
    updated_at: str
    last_accessed_at: str | None
    # When it was retired, and when its importance was last lowered.
    deleted_at: str | None
    decayed_at: str | None

    @property
    def used_at(self) -> str:
        """When it was last accessed, changed or, if neither, recorded."""
        return max(self.updated_at, self.last_accessed_at or "")


class Maintenance(Protocol):
    """Keeps the collection, of all users."""

    def place(self) -> str | None:
        """Return where the last run stopped, or None where it came to its end."""

    def keep_place(self, place: str | None) -> None:
        """Keep where a run stopped."""

    def users(self, place: str | None) -> tuple[list[str], str | None]:
        """Return some of the users that have memories, and the place after them, None at the end.

        From None to None, each user comes at least once.
        """

    def deleted(self, user_id: str) -> Iterable[Candidate]:
        """Return the memories that are deleted."""

    def unused(self, user_id: str, since: str) -> Iterable[Candidate]:
        """Return the memories, but the deleted, that were last used at ``since`` or before."""

    def may_exceed(self, user_id: str, most: int) -> bool:
        """Say whether the user may have more memories than ``most``, but for the deleted."""

    def kept(self, user_id: str) -> Iterable[Candidate]:
        """Return the memories, but the deleted."""

    def date_deletion(self, memory: Candidate, at: str) -> None:
        """Note that a deleted memory, of which it is not known since when, is deleted ``at``."""

    def remove(self, memory: Candidate) -> bool:
        """Remove a deleted memory for good, with all that there is of it, if it is as found.

        A removal that broke off can be repeated. Returns whether it was removed.
        """

    def decay(self, memory: Candidate, at: str) -> bool:
        """Lower the importance by one if the memory is as found, and return whether it was.

        No version is made of it, and it is not updated by it.
        """

    def retire(self, memory: Candidate, at: str) -> bool:
        """Mark as deleted if the memory is as found, and return whether it was."""

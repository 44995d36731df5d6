"""What clients asked for and what they were answered, to hold what is stored against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

Memory = dict[str, Any]


@dataclass
class Entry:
    """One memory that was asked for, and all that was asked of it."""

    user: str
    # A tag of its own, by which it is known whatever id it has.
    marker: str
    content: str
    id: int | None = None
    # Asked for without an answer, and without a key to ask again: it may be there or not.
    is_maybe: bool = False
    # The contents that changes gave it, by the version that the answer said.
    changes: dict[int, str] = field(default_factory=dict)
    # Those of changes that had no answer.
    lost_changes: list[str] = field(default_factory=list)
    retirements: int = 0
    lost_retirements: int = 0
    # Requests to retire it that have no answer yet.
    retiring: int = 0

    @property
    def version(self) -> int:
        """The least version that it can have."""
        return max(self.changes, default=1)

    @property
    def may_be_retired(self) -> bool:
        # In this order: a request that ends meanwhile is counted before it is no longer running.
        return bool(self.retiring or self.retirements or self.lost_retirements)


class Ledger:
    """The entries of all users, and what was found wrong."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.counts: Counter[str] = Counter()
        self.violations: list[str] = []
        self._entries: dict[str, Entry] = {}
        self._known: dict[str, list[Entry]] = {}

    def asked(self, entry: Entry) -> None:
        with self.lock:
            self._entries[entry.marker] = entry

    def acknowledged(self, entry: Entry, memory: Memory) -> None:
        """Take the answer to a request to record it, or to a repeat of that request."""
        self.see(entry.user, [memory])
        with self.lock:
            if entry.id is None:
                entry.id = memory["id"]
                self._known.setdefault(entry.user, []).append(entry)
        self.expect(memory["id"] == entry.id, f"{entry.marker} is {memory['id']} and {entry.id}")
        recorded = (memory["content"], memory["version"], memory["status"])
        self.expect(recorded == (entry.content, 1, "active"), f"answered {recorded}, {entry}")

    def known(self, user: str) -> list[Entry]:
        """Return the user's memories that were acknowledged."""
        with self.lock:
            return list(self._known.get(user, []))

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1

    def expect(self, is_so: bool, otherwise: str) -> None:
        if not is_so:
            with self.lock:
                self.violations.append(otherwise)

    def see(self, user: str, memories: Iterable[Memory]) -> None:
        """Look at memories in an answer: each was asked for by this user."""
        for memory in memories:
            marker, owner = memory["tags"]
            entry = self._entries.get(marker)
            self.expect(
                owner == user and entry is not None and entry.user == user,
                f"{user} was shown {memory}",
            )

    def changed(self, entry: Entry, memory: Memory, content: str) -> None:
        with self.lock:
            twice = entry.changes.get(memory["version"])
            entry.changes[memory["version"]] = content
        self.expect(twice is None, f"{entry.marker}: {twice!r} and {content!r} made one version")
        self.expect(memory["content"] == content, f"{content!r} was answered by {memory}")

    @contextmanager
    def retiring(self, entry: Entry) -> Iterator[None]:
        with self.lock:
            entry.retiring += 1
        try:
            yield
        finally:
            with self.lock:
                entry.retiring -= 1

    def verify(self, user: str, stored: list[Memory]) -> None:
        """Hold all that is stored of a user against what was asked and answered."""
        ids = [memory["id"] for memory in stored]
        self.expect(len(ids) == len(set(ids)), f"{user} has an id twice")
        found: dict[str, list[Memory]] = {}
        self.see(user, stored)
        for memory in stored:
            found.setdefault(memory["tags"][0], []).append(memory)
        for entry in self._entries.values():
            if entry.user == user:
                self._verify(entry, found.get(entry.marker, []))

    def _verify(self, entry: Entry, stored: list[Memory]) -> None:
        self.expect(len(stored) < 2, f"stored twice: {stored}")
        if entry.id is None:
            self.expect(entry.is_maybe, f"without an answer and not known to be: {entry}")
            self.count("lost records that were stored" if stored else "lost records that were not")
        if not stored:
            self.expect(entry.id is None, f"acknowledged and lost: {entry}")
            return
        memory = stored[0]
        self.expect(entry.id in {None, memory["id"]}, f"under another id: {memory}, {entry}")
        sure = 1 + len(entry.changes)
        version = memory["version"]
        self.count("memories")
        self.expect(
            sure <= version <= sure + len(entry.lost_changes),
            f"version {version} after {len(entry.changes)} changes: {entry}",
        )
        with self.lock:
            self.counts["lost changes that were made"] += version - sure
            self.counts["lost changes"] += len(entry.lost_changes)
        last = entry.changes.get(version, entry.content if version == 1 else None)
        contents = entry.lost_changes if last is None else [last]
        self.expect(memory["content"] in contents, f"another content: {memory}, {entry}")
        self.expect(entry.retirements < 2, f"retired twice: {entry}")
        is_retired = memory["status"] == "deleted"
        if entry.retirements or not entry.lost_retirements:
            self.expect(is_retired == bool(entry.retirements), f"retired or not: {memory}, {entry}")
        else:
            self.count(f"lost retirements that were {'made' if is_retired else 'not'}")

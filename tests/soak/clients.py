"""Clients of a soak: each does one thing after the other, and writes down what it is told."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event
from typing import Any

import httpx
from jsonschema import Draft202012Validator
from mcp_types import CallToolResult

from doors import Door, Refused
from http_client import SocketClient
from mcp_door import McpDoor
from mcp_server.tools import TOOLS
from soak.ledger import Entry, Ledger
from soak.server import USER_HEADER

_SCHEMAS = {
    name: Draft202012Validator(tool.declaration.output_schema or False)
    for name, tool in TOOLS.items()
}
_PAUSE = 0.05


class Lost(Exception):
    """The request has no answer, and may have been done."""


class PostDoor(McpDoor):
    """The MCP door by single messages: the SDK's client would be most of the work."""

    def __init__(self, client: SocketClient) -> None:
        self._http = client
        self.replayed = False
        self.schemas = _SCHEMAS

    def result(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        answer = self._http.send(
            "POST",
            "/mcp",
            message,
            accept="application/json, text/event-stream",
            mcp_protocol_version="2025-11-25",
        )
        assert answer.status == 200, answer
        return CallToolResult.model_validate(answer.body["result"])


@contextmanager
def connected(url: str, user: str, agent: str) -> Iterator[SocketClient]:
    """Connect to a server as an agent of a user."""
    client = SocketClient(url, agent)
    client.client.headers[USER_HEADER] = user
    try:
        yield client
    finally:
        client.client.close()


@dataclass(frozen=True)
class Bounds:
    """When clients stop, and how many memories a user may come to have."""

    stop: Event
    most_memories: int
    # Whether a store that says it is unavailable may yet have done what it was asked for.
    unavailable_is_lost: bool


class Client:
    """An agent at work."""

    def __init__(self, name: str, user: str, door: Door, ledger: Ledger, bounds: Bounds) -> None:
        self._name = name
        self._user = user
        self._door = door
        self._ledger = ledger
        self._bounds = bounds
        self._random = random.Random(name)
        self._number = 0

    def run(self) -> None:
        """Work until told to stop, which is after the request that is running."""
        actions: dict[Callable[[], None], int] = {
            self._record: 20,
            self._record_with_a_key: 10,
            self._record_batch: 5,
            self._revise: 25,
            self._inspect: 15,
            self._search: 10,
            self._find: 10,
            self._retire: 5,
        }
        try:
            while not self._bounds.stop.is_set():
                (action,) = self._random.choices(list(actions), list(actions.values()))
                if action in (self._record, self._record_with_a_key, self._record_batch):
                    known = len(self._ledger.known(self._user))
                    action = action if known < self._bounds.most_memories else self._revise
                with suppress(Lost):
                    action()
        except BaseException as error:  # noqa: BLE001  (whatever it is, the soak has found it)
            self._ledger.expect(False, f"{self._name}: {error!r}")

    def _ask(self, what: str, request: Callable[[], Any]) -> Any:
        """Return the answer, or the refusal. Raises Lost."""
        self._ledger.count(f"asked: {what}")
        try:
            answer = request()
        except httpx.TransportError as error:
            self._ledger.count("without an answer")
            self._bounds.stop.wait(_PAUSE)  # until there is a server again
            raise Lost from error
        except Refused as refused:
            if refused.kind == "unavailable":
                self._ledger.count("unavailable")
                self._bounds.stop.wait(_PAUSE)
                if self._bounds.unavailable_is_lost:
                    raise Lost from refused
                return refused
            self._ledger.count(f"refused: {what}, {refused.kind}")
            return refused
        self._ledger.count(f"done: {what}")
        return answer

    def _asked(self) -> Entry:
        self._number += 1
        marker = f"{self._name}-{self._number}"
        entry = Entry(self._user, marker, f"{marker} is remembered")
        self._ledger.asked(entry)
        return entry

    def _record(self) -> None:
        entry = self._asked()
        entry.is_maybe = True
        answer = self._ask("record", lambda: self._door.record(**_draft(entry)))
        if not isinstance(answer, Refused):
            self._ledger.acknowledged(entry, answer)
            self._read_back(entry)

    def _record_with_a_key(self) -> None:
        entry = self._asked()
        entry.is_maybe = True
        sent = _draft(entry) | {"idempotency_key": entry.marker}
        for memory in self._until_answered("record with a key", lambda: self._door.record(**sent)):
            self._ledger.acknowledged(entry, memory)

    def _record_batch(self) -> None:
        entries = [self._asked() for _ in range(3)]
        for entry in entries:
            entry.is_maybe = True
        drafts = [_draft(entry) for entry in entries]
        for memories in self._until_answered(
            "record a batch", lambda: self._door.record_batch(drafts, entries[0].marker)
        ):
            for entry, memory in zip(entries, memories, strict=True):
                self._ledger.acknowledged(entry, memory)

    def _until_answered(self, what: str, request: Callable[[], Any]) -> list[Any]:
        """Return the answer, however often it has to be asked for, and maybe that of a repeat."""
        answers: list[Any] = []
        wanted = self._random.choice([1, 2])
        while len(answers) < wanted:
            try:
                answer = self._ask(what if not answers else f"{what}, again", request)
            except Lost:
                answer = None
            if answer is None or (
                isinstance(answer, Refused) and answer.kind in {"unavailable", "conflict"}
            ):
                if self._bounds.stop.is_set():
                    break
                self._bounds.stop.wait(_PAUSE)
                continue
            if isinstance(answer, Refused):
                raise answer
            if answers:
                self._ledger.expect(self._door.replayed, f"done twice: {answers} and {answer}")
            answers.append(answer)
        return answers

    def _revise(self) -> None:
        entry = self._some()
        if entry is None:
            return
        self._number += 1
        content = f"{entry.marker} is changed by {self._name}-{self._number}"
        expected = entry.version if self._random.random() < 0.5 else None
        retired = entry.may_be_retired
        try:
            answer = self._ask(
                "revise" if expected is None else "revise a version",
                lambda: self._door.revise(entry.id, expected, content=content),
            )
        except Lost:
            with self._ledger.lock:
                entry.lost_changes.append(content)
            raise
        if not isinstance(answer, Refused):
            self._ledger.changed(entry, answer, content)
            if expected is not None:
                self._ledger.expect(answer["version"] == expected + 1, f"not {expected}: {answer}")
        elif answer.kind == "not found":
            self._ledger.expect(retired or entry.may_be_retired, f"not there: {entry}")
        elif answer.kind == "stale":
            self._ledger.expect(expected is not None, f"stale without a version: {entry}")
        else:
            self._ledger.expect(answer.kind in {"conflict", "unavailable"}, repr(answer))

    def _retire(self) -> None:
        entry = self._some()
        if entry is None:
            return
        before = entry.may_be_retired
        with self._ledger.retiring(entry):
            try:
                answer = self._ask("retire", lambda: self._door.retire(entry.id))
            except Lost:
                with self._ledger.lock:
                    entry.lost_retirements += 1
                raise
            if not isinstance(answer, Refused):
                self._ledger.expect(answer["status"] == "deleted", f"not retired: {answer}")
                with self._ledger.lock:
                    entry.retirements += 1
            elif answer.kind == "not found":
                others = entry.retiring > 1 or entry.retirements or entry.lost_retirements
                self._ledger.expect(bool(before or others), f"not there: {entry}")
            else:
                self._ledger.expect(answer.kind in {"conflict", "unavailable"}, repr(answer))

    def _inspect(self) -> None:
        if entry := self._some():
            self._read_back(entry)

    def _read_back(self, entry: Entry) -> None:
        """See that an acknowledged memory is there, at no earlier version than was told."""
        least = entry.version
        answer = self._ask("inspect", lambda: self._door.inspect(entry.id))
        if not isinstance(answer, Refused):
            self._ledger.see(self._user, [answer])
            self._ledger.expect(answer["version"] >= least, f"{answer} is older than {entry}")
            self._ledger.expect(answer["id"] == entry.id, f"{answer} is not {entry}")
        elif answer.kind == "not found":
            self._ledger.expect(entry.may_be_retired, f"not there: {entry}")
        else:
            self._ledger.expect(answer.kind == "unavailable", repr(answer))

    def _search(self) -> None:
        sort = self._random.choice(["id", "created_at", "updated_at", "last_accessed_at"])
        offset = self._random.choice([0, 0, 5, 50])
        page = self._ask("search", lambda: self._door.search(sort=sort, offset=offset, limit=5))
        if isinstance(page, Refused):
            self._ledger.expect(page.kind == "unavailable", repr(page))
            return
        self._ledger.see(self._user, page["items"])
        ids = [memory["id"] for memory in page["items"]]
        self._ledger.expect(len(ids) == len(set(ids)), f"twice on a page: {ids}")

    def _find(self) -> None:
        """Find one by its tag, or by its text."""
        entry = self._some()
        if entry is None:
            return
        least = entry.version
        query = {self._random.choice(["tag", "q"]): entry.marker}
        page = self._ask("search for one", lambda: self._door.search(**query, limit=100))
        if isinstance(page, Refused):
            self._ledger.expect(page.kind == "unavailable", repr(page))
            return
        self._ledger.see(self._user, page["items"])
        found = [memory for memory in page["items"] if memory["id"] == entry.id]
        self._ledger.expect(
            len(found) == 1 or (not found and entry.may_be_retired), f"{query} found {page}"
        )
        for memory in found:
            self._ledger.expect(memory["version"] >= least, f"{memory} is older than {entry}")

    def _some(self) -> Entry | None:
        known = self._ledger.known(self._user)
        # Mostly one of a few, so that clients meet.
        few = known[-8:] if self._random.random() < 0.7 else known
        return self._random.choice(few) if few else None


def _draft(entry: Entry) -> dict[str, Any]:
    return {"content": entry.content, "tags": [entry.marker, entry.user]}

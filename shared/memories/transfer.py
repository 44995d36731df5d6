"""Export and import: whole records, out of the service and into it, a line of JSON each."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from memories.clock import Clock
from memories.errors import InvalidInput, Problem
from memories.fields import MAX_LINES, timestamp
from memories.principal import ADMIN, READ, WRITE, Principal
from memories.stores.port import Record
from memories.stores.port_transfer import Arrival, Placed, TransferStore
from memories.transfer_models import (
    ExportedMemory,
    ExportPage,
    ExportQuery,
    ImportedLine,
    ImportedMemory,
    ImportReport,
    Result,
)
from memories.validation import invalid_input
from memories.views import memory_of, permissions_of

# The most bytes of a page, which an import takes whole. One record may be more, alone.
MAX_BYTES = 1_000_000

# How many records are looked at at once, and how often for a page: an agent that may read few of
# them gets a short page, not a late one.
_READ = 100
_MOST_READS = 50

_LINE: TypeAdapter[ImportedMemory] = TypeAdapter(ImportedMemory)


class _Line(NamedTuple):
    """A line that can be taken in, by its number in the body."""

    number: int
    memory: ImportedMemory
    origin: str


class Transfer:
    """Exports and imports on behalf of a principal."""

    def __init__(self, store: TransferStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def export(self, principal: Principal, query: ExportQuery) -> ExportPage:
        """Return the next records that may be read, of any status, marking none as accessed."""
        principal.require(READ)
        lines: list[str] = []
        size = 0
        after: int | None = query.after
        for _ in range(_MOST_READS):
            assert after is not None
            part = self._store.read(principal, after, _READ)
            for record in part.records:
                line = _exported(record).model_dump_json()
                size += len(line.encode()) + 1
                if lines and (len(lines) == query.limit or size > MAX_BYTES):
                    return ExportPage(lines=lines, next=after)
                lines.append(line)
                after = record.id
            after = part.more
            if after is None:
                break
        return ExportPage(lines=lines, next=after)

    def take_in(self, principal: Principal, body: bytes) -> ImportReport:
        """Record what the lines hold and is not here yet, and say what became of each.

        A line that is refused stops no other. Raises InvalidInput for more than MAX_LINES.
        """
        principal.require(WRITE)
        # Who made a memory, and when, is what the importing agent says.
        principal.require(ADMIN)
        now = timestamp(self._clock())
        lines, refused = _read(body)
        arrivals = _arrivals(lines, principal.agent_id, now)
        placed = self._store.place(principal, list(arrivals.values()), now) if arrivals else []
        return _report(lines, dict(zip(arrivals, placed, strict=True)), refused)


def _exported(record: Record) -> ExportedMemory:
    return ExportedMemory(
        **dict(memory_of(record)),
        agent_id=record.agent_id,
        importance=record.importance,
        category=record.category,
        source=record.source,
        access_count=record.access_count,
        permissions=permissions_of(record),
    )


def _read(body: bytes) -> tuple[list[_Line], list[ImportedLine]]:
    """Return the lines that can be taken in, and the others with what is wrong with them."""
    filled = [(number, text) for number, text in enumerate(body.split(b"\n"), 1) if text.strip()]
    if len(filled) > MAX_LINES:
        told = f"must be at most {MAX_LINES} lines; send the rest in further requests"
        raise InvalidInput([Problem("too_long", ("body",), told)])
    lines, refused = [], []
    for number, text in filled:
        try:
            memory = _LINE.validate_json(text)
        except ValidationError as error:
            problems = list(invalid_input(error).problems)
            refused.append(ImportedLine(line=number, result="refused", problems=problems))
        else:
            lines.append(_Line(number, memory, _origin(memory)))
    return lines, refused


def _origin(memory: ImportedMemory) -> str:
    """Return what tells the record from all others, wherever it goes.

    With an id that is what never changes of it; without, all that is said of it.
    """
    named = [memory.id, memory.created_at, memory.agent_id]
    facts = memory.model_dump(mode="json") if memory.id is None else named
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _arrivals(lines: Sequence[_Line], agent_id: str, now: str) -> dict[str, Arrival]:
    """Return what arrives, each once and by its origin. No two of them want the same id."""
    arrivals: dict[str, Arrival] = {}
    wanted: set[int] = set()
    for line in lines:
        if line.origin not in arrivals:
            record = _record(line.memory, agent_id, now)
            if record.id in wanted:
                record = record._replace(id=0)
            wanted.add(record.id)
            arrivals[line.origin] = Arrival(record, line.origin)
    return arrivals


def _record(memory: ImportedMemory, agent_id: str, now: str) -> Record:
    created_at = memory.created_at or now
    return Record(
        id=memory.id or 0,
        content=memory.content,
        tags=tuple(memory.tags),
        created_at=created_at,
        updated_at=memory.updated_at or created_at,
        last_accessed_at=memory.last_accessed_at,
        memory_type=memory.memory_type,
        status=memory.status,
        version=memory.version,
        agent_id=memory.agent_id or agent_id,
        importance=memory.importance,
        category=memory.category,
        source=memory.source,
        access_count=memory.access_count,
        is_public=memory.permissions.is_public,
        read_only=memory.permissions.read_only,
        shared_with_agents=tuple(memory.permissions.shared_with_agents),
    )


def _report(
    lines: Sequence[_Line], placed: Mapping[str, Placed], refused: Sequence[ImportedLine]
) -> ImportReport:
    told = list(refused)
    met: set[str] = set()
    for line in lines:
        memory_id, is_new = placed[line.origin]
        result: Result = "recorded" if is_new and line.origin not in met else "kept"
        met.add(line.origin)
        told.append(ImportedLine(line=line.number, result=result, id=memory_id))
    told.sort(key=lambda line: line.line)
    counts = Counter(line.result for line in told)
    return ImportReport(
        recorded=counts["recorded"], kept=counts["kept"], refused=counts["refused"], lines=told
    )

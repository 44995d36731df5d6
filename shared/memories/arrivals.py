"""What the lines of an import bring: records and relations, and what tells them from others."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from memories.base_model import DEFERRED
from memories.errors import InvalidInput, Problem
from memories.fields import MAX_LINES
from memories.stores.port import Record
from memories.stores.port_relations import RelationRecord
from memories.stores.port_transfer import NUMBERED, Arrival
from memories.transfer_models import (
    ImportedMemory,
    ImportedRelation,
    ImportLine,
    RelationOfMemory,
)
from memories.validation import invalid_input

_LINE: TypeAdapter[ImportedMemory | ImportedRelation] = TypeAdapter(ImportLine, config=DEFERRED)


class MemoryLine(NamedTuple):
    """A memory that can be taken in, by the number of its line."""

    number: int
    memory: ImportedMemory
    origin: str


class RelationLine(NamedTuple):
    """A relation that can be taken in, by the number of its line."""

    number: int
    relation: ImportedRelation


class Lines(NamedTuple):
    """The lines of an import: what can be taken in, and what is wrong with the others."""

    memories: Sequence[MemoryLine]
    relations: Sequence[RelationLine]
    refused: Mapping[int, Sequence[Problem]]


class Edge(NamedTuple):
    """A relation by the ids of this store. ``place`` is where its line has it."""

    number: int
    place: tuple[str | int, ...]
    relation: RelationRecord


class Unresolved(NamedTuple):
    """A relation to a memory that is not in the import."""

    number: int
    problem: Problem


def read_lines(body: bytes) -> Lines:
    """Read each line on its own. Raises InvalidInput for more than MAX_LINES."""
    filled = [(number, text) for number, text in enumerate(body.split(b"\n"), 1) if text.strip()]
    if len(filled) > MAX_LINES:
        told = f"must be at most {MAX_LINES} lines; send the rest in further requests"
        raise InvalidInput([Problem("too_long", ("body",), told)])
    memories: list[MemoryLine] = []
    relations: list[RelationLine] = []
    refused: dict[int, Sequence[Problem]] = {}
    for number, text in filled:
        try:
            line = _LINE.validate_json(text)
        except ValidationError as error:
            refused[number] = [_without_type(each) for each in invalid_input(error).problems]
        else:
            if isinstance(line, ImportedMemory):
                memories.append(MemoryLine(number, line, _origin(line)))
            else:
                relations.append(RelationLine(number, line))
    return Lines(memories, relations, refused)


def arrivals_of(lines: Sequence[MemoryLine], agent_id: str, now: str) -> dict[str, Arrival]:
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


def edges_of(
    lines: Lines, ids: Mapping[str, int], agent_id: str, now: str
) -> Iterator[Edge | Unresolved]:
    """Yield the relations of the lines. ``ids`` are those that the memories got, by origin."""
    here = {line.memory.id: ids[line.origin] for line in lines.memories if line.memory.id}
    for line in lines.memories:
        for number, relation in enumerate(line.memory.relations):
            place = ("relations", number)
            if relation.to_id in here:
                ends = (ids[line.origin], here[relation.to_id])
                yield Edge(line.number, place, _relation(*ends, relation, agent_id, now))
            else:
                told = "is not in this import; send the relation as a line, with the ids here"
                yield Unresolved(line.number, Problem("to_id", (*place, "to_id"), told))
    for each in lines.relations:
        ends = (each.relation.from_id, each.relation.to_id)
        yield Edge(each.number, (), _relation(*ends, each.relation, agent_id, now))


def _without_type(problem: Problem) -> Problem:
    # A place begins with the type that the line was read as.
    return Problem(problem.type, problem.loc[1:], problem.msg)


def _origin(memory: ImportedMemory) -> str:
    """Return what tells the record from all others, wherever it goes.

    With an id that is what never changes of it; without, all that is said of it.
    """
    if memory.id is not None:
        return f"{NUMBERED}{_digest([memory.id, memory.created_at, memory.agent_id])}"
    return f"line:{_digest(memory.model_dump(mode='json', exclude={'relations'}))}"


def _digest(facts: object) -> str:
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


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


def _relation(
    from_id: int,
    to_id: int,
    relation: RelationOfMemory | ImportedRelation,
    agent_id: str,
    now: str,
) -> RelationRecord:
    return RelationRecord(
        from_id,
        relation.relation_type,
        to_id,
        relation.strength,
        relation.created_at or now,
        relation.agent_id or agent_id,
    )

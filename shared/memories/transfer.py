"""Export and import: whole records, out of the service and into it, a line of JSON each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memories.arrivals import Edge, MemoryLine, arrivals_of, edges_of, read_lines
from memories.clock import Clock
from memories.errors import Problem
from memories.fields import timestamp
from memories.principal import ADMIN, READ, WRITE, Principal
from memories.stores.port import Record, Store
from memories.stores.port_relations import EndRefused, RelationRecord
from memories.transfer_models import (
    ExportedMemory,
    ExportedRelation,
    ExportPage,
    ExportQuery,
    ImportedLine,
    ImportReport,
    Result,
)
from memories.views import memory_of, permissions_of

# The most bytes of a page, which an import takes whole. One record may be more, alone.
MAX_BYTES = 1_000_000

# How many records are looked at at once, and how often for a page: an agent that may read few of
# them gets a short page, not a late one.
_READ = 100
_MOST_READS = 50

# What became of the lines of an import, by their numbers.
Report = dict[int, ImportedLine]


class Transfer:
    """Exports and imports on behalf of a principal."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def export(self, principal: Principal, query: ExportQuery) -> ExportPage:
        """Return the next records that may be read, of any status, marking none as accessed.

        With the relations out of each that the agent is shown.
        """
        principal.require(READ)
        lines: list[str] = []
        size = 0
        after: int | None = query.after
        for _ in range(_MOST_READS):
            assert after is not None
            part = self._store.transfer.read(principal, after, _READ)
            relations = self._relations(principal, part.records)
            for record in part.records:
                line = _exported(record, relations[record.id]).model_dump_json()
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
        # Who made a memory or a relation, and when, is what the importing agent says.
        principal.require(ADMIN)
        now = timestamp(self._clock())
        lines = read_lines(body)
        report = {
            number: ImportedLine(line=number, result="refused", problems=list(problems))
            for number, problems in lines.refused.items()
        }
        ids = self._place(principal, lines.memories, report, now)
        edges: list[Edge] = []
        for edge in edges_of(lines, ids, principal.agent_id, now):
            if isinstance(edge, Edge):
                edges.append(edge)
            else:
                report[edge.number].problems.append(edge.problem)
        self._relate(principal, edges, report)
        told = [report[number] for number in sorted(report)]
        counts = Counter(line.result for line in told)
        return ImportReport(
            recorded=counts["recorded"], kept=counts["kept"], refused=counts["refused"], lines=told
        )

    def _relations(
        self, principal: Principal, records: Sequence[Record]
    ) -> Mapping[int, list[ExportedRelation]]:
        """Return the relations that are shown out of each of some records in the order of ids."""
        relations: dict[int, list[ExportedRelation]] = {record.id: [] for record in records}
        shown = [record.id for record in records if record.status != "deleted"]
        if shown:
            for found in self._store.relations.out_of(principal, shown[0], shown[-1]):
                if found.from_id in shown:
                    relations[found.from_id].append(_exported_relation(found))
        return relations

    def _place(
        self, principal: Principal, lines: Sequence[MemoryLine], report: Report, now: str
    ) -> Mapping[str, int]:
        """Store the memories, report them, and return the ids that they have, by origin."""
        arrivals = arrivals_of(lines, principal.agent_id, now)
        if not arrivals:
            return {}
        # First, so that no memory is here whose maker is not, and could not be erased.
        for agent_id in dict.fromkeys(each.record.agent_id for each in arrivals.values()):
            self._store.accounts.register(principal.user_id, agent_id, now)
        placed = self._store.transfer.place(principal, list(arrivals.values()), now)
        ids: dict[str, int] = {}
        results = dict(zip(arrivals, placed, strict=True))
        for number, _, origin in lines:
            memory_id, is_new = results[origin]
            result: Result = "recorded" if is_new and origin not in ids else "kept"
            ids[origin] = memory_id
            report[number] = ImportedLine(line=number, result=result, id=memory_id)
        return ids

    def _relate(self, principal: Principal, edges: Sequence[Edge], report: Report) -> None:
        """Store the relations, each by the agent that it says had recorded it, and report them."""
        allowed: list[Edge] = []
        for edge in edges:
            if edge.relation.from_id == edge.relation.to_id:
                told = "must be another memory than the one that relates to it"
                _trouble(report, edge, Problem("to_id", (*edge.place, "to_id"), told))
            else:
                allowed.append(edge)
        if not allowed:
            return
        results = self._store.relations.add(
            [
                (replace(principal, agent_id=edge.relation.agent_id), edge.relation)
                for edge in allowed
            ]
        )
        for edge, result in zip(allowed, results, strict=True):
            if isinstance(result, EndRefused):
                end = "from_id" if result.memory_id == edge.relation.from_id else "to_id"
                told = "is no memory that the agent of the relation may relate so"
                _trouble(report, edge, Problem(end, (*edge.place, end), told))
            elif not edge.place:
                report[edge.number] = ImportedLine(
                    line=edge.number, result="recorded" if result else "kept"
                )


def _trouble(report: Report, edge: Edge, problem: Problem) -> None:
    if edge.place:
        report[edge.number].problems.append(problem)
    else:
        report[edge.number] = ImportedLine(line=edge.number, result="refused", problems=[problem])


def _exported(record: Record, relations: list[ExportedRelation]) -> ExportedMemory:
    return ExportedMemory(
        **dict(memory_of(record)),
        agent_id=record.agent_id,
        importance=record.importance,
        category=record.category,
        source=record.source,
        access_count=record.access_count,
        permissions=permissions_of(record),
        relations=relations,
    )


def _exported_relation(relation: RelationRecord) -> ExportedRelation:
    return ExportedRelation(
        relation_type=relation.relation_type,
        to_id=relation.to_id,
        strength=relation.strength,
        created_at=relation.created_at,
        agent_id=relation.agent_id,
    )

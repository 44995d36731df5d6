"""The tools for relations: to relate memories, and to follow how they are related."""

from mcp_server.arguments_relations import GetRelatedMemories, RelateMemories
from mcp_server.tool import Tool
from memories.principal import READ, WRITE, Principal
from memories.relation_models import RelatedMemories, Relation
from memories.service import MemoryService


def _relate(service: MemoryService, principal: Principal, arguments: RelateMemories) -> Relation:
    ends = (arguments.from_id, arguments.relation_type, arguments.to_id)
    if arguments.remove:
        return service.relations.unrelate(principal, *ends)
    relation, _ = service.relations.relate(principal, *ends, arguments)
    return relation


def _get_related(
    service: MemoryService, principal: Principal, arguments: GetRelatedMemories
) -> RelatedMemories:
    return service.relations.around(principal, arguments.memory_id, arguments)


RELATION_TOOLS = [
    Tool(
        name="relate_memories",
        title="Relate memories",
        description="Say how one memory relates to another: it follows, contradicts, elaborates or "
        "supersedes it. What a newer memory replaces is marked as invalid in the same step with "
        "`invalidate`. The same relation again sets its strength; `remove` takes it away.",
        arguments=RelateMemories,
        result=Relation,
        scope=WRITE,
        run=_relate,
        destructive=True,
        idempotent=True,
    ),
    Tool(
        name="get_related_memories",
        title="Follow relations",
        description="Return the memories around one, nearest first, each once, with the relations "
        "that lead to it: what it supersedes, what contradicts it, what came before. They are "
        "marked as used.",
        arguments=GetRelatedMemories,
        result=RelatedMemories,
        scope=READ,
        run=_get_related,
    ),
]

"""The tools for the memories themselves, and for who may use them."""

import json

from mcp_server.arguments import (
    InspectMemory,
    PrimeMemoryContext,
    RecordMemories,
    RecordMemory,
    RetireMemory,
    ReviseMemory,
    SearchMemories,
    ShareMemory,
)
from mcp_server.tool import Remarked, Tool
from memories.base_model import Model
from memories.fields import MAX_BATCH, MemoryType
from memories.models import Memory, Page, Permissions, PrimedContext, PrimingQuery
from memories.principal import READ, WRITE, Principal
from memories.service import MemoryService

_REPLAYED = (
    "Nothing was recorded now: this is the answer to the first call with this idempotency_key"
)


class Recorded(Model):
    """What was recorded, in order."""

    memories: list[Memory]


def _prime(service: MemoryService, principal: Principal, arguments: PrimeMemoryContext) -> Remarked:
    context = service.prime(principal, arguments, full=arguments.full)
    return Remarked(context, _left_out(arguments, context))


def _search(service: MemoryService, principal: Principal, arguments: SearchMemories) -> Page:
    return service.search(principal, arguments, full=arguments.full)


def _record(service: MemoryService, principal: Principal, arguments: RecordMemory) -> Remarked:
    (memory,), replayed = service.recording.one(principal, arguments, arguments.idempotency_key)
    return Remarked(memory, [_REPLAYED] if replayed else [])


def _record_all(
    service: MemoryService, principal: Principal, arguments: RecordMemories
) -> Remarked:
    memories, replayed = service.recording.batch(
        principal, arguments.memories, arguments.idempotency_key
    )
    recorded = Recorded.model_construct(memories=memories)
    return Remarked(recorded, [_REPLAYED] if replayed else [])


def _inspect(service: MemoryService, principal: Principal, arguments: InspectMemory) -> Memory:
    return service.inspect(principal, arguments.memory_id, full=arguments.full)


def _revise(service: MemoryService, principal: Principal, arguments: ReviseMemory) -> Memory:
    return service.revise(principal, arguments.memory_id, arguments, arguments.expected_version)


def _share(service: MemoryService, principal: Principal, arguments: ShareMemory) -> Permissions:
    return service.share(principal, arguments.memory_id, arguments)


def _retire(service: MemoryService, principal: Principal, arguments: RetireMemory) -> Memory:
    return service.retire(principal, arguments.memory_id, arguments.expected_version)


def _left_out(arguments: PrimingQuery, context: PrimedContext) -> list[str]:
    pages: list[tuple[str, MemoryType, Page]] = [
        ("preferences", "preference", context.preferences),
        ("identities", "identity", context.identities),
    ]
    return [
        f"{page.total - end} of {page.total} {name} left out; go on at offset {end} of "
        f"search_memories({_recipe(arguments, kind)})"
        for name, kind, page in pages
        if (end := page.offset + len(page.items)) < page.total
    ]


def _recipe(arguments: PrimingQuery, kind: MemoryType) -> str:
    query = arguments.of_type(kind).model_dump(
        include={"memory_type", "status", "tag", "q", "sort"}, exclude_none=True
    )
    return ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in query.items()
    )


MEMORY_TOOLS = [
    Tool(
        name="prime_memory_context",
        title="Start of a session",
        description="Return what this person prefers and who they are: their active preferences "
        "and identities, newest first. Call it once at the start of a session. What is returned is "
        "marked as used.",
        arguments=PrimeMemoryContext,
        result=PrimedContext,
        scope=READ,
        run=_prime,
    ),
    Tool(
        name="search_memories",
        title="Search memories",
        description="Find memories by text, tag, type and status; every filter narrows the result, "
        "and without any it lists all. `total` counts all matches; while `has_more` is true, go on "
        "with a larger `offset`. What is returned is marked as used, so search narrowly.",
        arguments=SearchMemories,
        result=Page,
        scope=READ,
        run=_search,
    ),
    Tool(
        name="record_memory",
        title="Record a memory",
        description="Remember one thing about this person, for all of their agents. Search first: "
        "revise what is known instead of recording it again. One fact, in a full sentence that "
        "makes sense alone.",
        arguments=RecordMemory,
        result=Memory,
        scope=WRITE,
        run=_record,
    ),
    Tool(
        name="record_memories",
        title="Record several memories",
        description=f"Remember 1 to {MAX_BATCH} things at once, each as in record_memory. All are "
        "recorded, or none.",
        arguments=RecordMemories,
        result=Recorded,
        scope=WRITE,
        run=_record_all,
    ),
    Tool(
        name="inspect_memory",
        title="Read a memory",
        description="Return one memory by its id. It is marked as used.",
        arguments=InspectMemory,
        result=Memory,
        scope=READ,
        run=_inspect,
    ),
    Tool(
        name="revise_memory",
        title="Revise a memory",
        description="Change a memory. Fields that you leave out keep their values; `tags` replaces "
        "the whole list. Set `status` to invalid for what turned out wrong.",
        arguments=ReviseMemory,
        result=Memory,
        scope=WRITE,
        run=_revise,
        destructive=True,
        idempotent=True,
    ),
    Tool(
        name="share_memory",
        title="Share a memory",
        description="Say which of the person's agents may read a memory, and whether they may "
        "change it. Only the agent that made it may. What you leave out stays as it is; "
        "`shared_with_agents` replaces the whole list, and counts where the memory is not public.",
        arguments=ShareMemory,
        result=Permissions,
        scope=WRITE,
        run=_share,
        destructive=True,
        idempotent=True,
    ),
    Tool(
        name="retire_memory",
        title="Retire a memory",
        description="Take a memory out of use, for good: from then on only a search with "
        'status="deleted" shows it. For what turned out wrong but is worth knowing, revise its '
        "status to invalid instead.",
        arguments=RetireMemory,
        result=Memory,
        scope=WRITE,
        run=_retire,
        destructive=True,
        idempotent=True,
    ),
]

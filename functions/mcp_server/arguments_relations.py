"""What the tools for relations are called with."""

from typing import Annotated

from pydantic import Field

from mcp_server.arguments import TheId
from memories.fields import MemoryId, RelationType
from memories.relation_models import RelatedQuery, RelationDraft


class RelateMemories(RelationDraft):
    from_id: Annotated[MemoryId, Field(description="The memory that relates to the other")]
    relation_type: RelationType
    to_id: Annotated[MemoryId, Field(description="The memory that it relates to")]
    remove: bool = Field(
        default=False,
        description="Take this relation away instead; the other arguments then change nothing",
    )


class GetRelatedMemories(RelatedQuery):
    memory_id: TheId

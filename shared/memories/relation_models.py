"""Relations between memories: how they are asked for and how they are shown."""

from pydantic import Field

from memories.base_model import Model
from memories.fields import (
    MAX_LIMIT,
    Direction,
    Limit,
    Offset,
    Omittable,
    RelationType,
    Strength,
    Timestamp,
)
from memories.models import Memory, MemoryQuery

SUPERSEDES = "supersedes"
"""The type of relation whose far end may be marked as invalid in the same step."""

MAX_DEPTH = 3


class RelationDraft(Model):
    """How a memory relates to another."""

    model_config = MemoryQuery.model_config

    strength: Strength = 1.0
    invalidate: bool = Field(
        default=False,
        description="With supersedes: whether to mark the superseded memory as invalid as well",
    )


class RelationQuery(Model):
    """Which relations of a memory, and which part of them."""

    model_config = MemoryQuery.model_config

    direction: Direction = "both"
    relation_type: Omittable[RelationType] = None
    limit: Limit = 10
    offset: Offset = 0


class RelatedQuery(Model):
    """Which memories around another, and how many of them."""

    model_config = MemoryQuery.model_config

    direction: Direction = "both"
    relation_type: Omittable[RelationType] = None
    depth: int = Field(
        default=1,
        ge=1,
        le=MAX_DEPTH,
        description="How many relations away a memory may be; those that are nearest come first",
    )
    limit: Limit = 10


class Relation(Model):
    """One memory relates to another."""

    from_id: int = Field(ge=1)
    relation_type: str
    to_id: int = Field(ge=1)
    strength: float = Field(ge=0, le=1)
    created_at: Timestamp
    agent_id: str = Field(description="The agent that recorded it")


class RelationPage(Model):
    """A part of a memory's relations, and how many there are in all."""

    items: list[Relation]
    total: int = Field(ge=0, description="Every relation the caller may see, on any page")
    limit: int = Field(ge=1, le=MAX_LIMIT)
    offset: int = Field(ge=0)
    has_more: bool = Field(description="Whether relations follow this page")


class RelatedMemory(Model):
    """A memory, and how it was come to."""

    memory: Memory
    depth: int = Field(ge=1, le=MAX_DEPTH, description="How many relations away it is")
    relations: list[Relation] = Field(description="Those that led to it")


class RelatedMemories(Model):
    """What is around a memory, nearest first, each memory once."""

    items: list[RelatedMemory]
    has_more: bool = Field(description="Whether there are more than were asked for")

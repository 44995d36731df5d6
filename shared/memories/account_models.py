"""A user's agents and the user, as they are shown and described."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from memories.base_model import Model
from memories.fields import (
    MAX_LIMIT,
    AgentId,
    AgentName,
    Capabilities,
    Limit,
    MetadataKey,
    MetadataValue,
    Offset,
    Omittable,
    Timestamp,
)
from memories.models import MemoryQuery

MAX_METADATA = 50


def _not_too_many(metadata: dict[str, Any]) -> dict[str, Any]:
    # Of those that are kept; more may be named, to remove them.
    if sum(value is not None for value in metadata.values()) > MAX_METADATA:
        raise PydanticCustomError(
            "metadata_count", "must hold {most} keys at most", {"most": MAX_METADATA}
        )
    return metadata


Metadata = Annotated[
    dict[MetadataKey, MetadataValue],
    Field(description=f"Up to {MAX_METADATA} texts by name, the same for all of the user's agents"),
]
MetadataPatch = Annotated[
    dict[MetadataKey, MetadataValue | None],
    Field(
        max_length=2 * MAX_METADATA,
        description="The texts to set, by name; null removes one, and what is not named stays",
    ),
    AfterValidator(_not_too_many),
]


class AgentQuery(Model):
    """Which part of the agents."""

    model_config = MemoryQuery.model_config

    limit: Limit = 10
    offset: Offset = 0


class AgentDescription(Model):
    """What an agent is called and can do. What is not sent is not known any more."""

    model_config = MemoryQuery.model_config

    name: Omittable[AgentName] = None
    capabilities: Capabilities = Field(default_factory=list)


class Agent(Model):
    """One of the user's agents."""

    agent_id: AgentId
    name: str | None
    capabilities: list[str]
    created_at: Timestamp = Field(description="When it was first seen")


class AgentPage(Model):
    """A part of the agents, those first seen first, and how many there are in all."""

    items: list[Agent]
    total: int = Field(ge=0)
    limit: int = Field(ge=1, le=MAX_LIMIT)
    offset: int = Field(ge=0)
    has_more: bool = Field(description="Whether agents follow this page")


class MemoryCounts(Model):
    """How many memories the agent that asks may see."""

    active: int = Field(ge=0)
    invalid: int = Field(ge=0)
    deleted: int = Field(ge=0)


class Me(Model):
    """The user who owns the memories."""

    user_id: str
    created_at: Timestamp = Field(description="When the first of the user's agents was first seen")
    metadata: Metadata
    memories: MemoryCounts
    agents: int = Field(ge=0)


class MePatch(Model):
    """What to change of the user. What is not sent stays."""

    model_config = MemoryQuery.model_config

    metadata: Omittable[MetadataPatch] = None


class Erased(Model):
    """How many were erased, of each kind."""

    memories: int = Field(default=0, ge=0, description="Of any status")
    agents: int = Field(default=0, ge=0)
    relations: int = Field(default=0, ge=0)
    log_entries: int = Field(default=0, ge=0)


class Receipt(Model):
    """What an erasure has erased since it began."""

    user_id: str
    agent_id: str | None = Field(description="The agent that is erased; null for all of the user")
    complete: bool = Field(description="Whether nothing is left; while it is false, repeat")
    erased: Erased
    started_at: Timestamp
    finished_at: Timestamp | None

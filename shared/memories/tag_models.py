"""Tags: how they are asked for and how they are shown."""

from pydantic import Field

from memories.base_model import Model
from memories.fields import MAX_LIMIT, Limit, Offset
from memories.models import MemoryQuery


class TagQuery(Model):
    """Which part of the tags."""

    model_config = MemoryQuery.model_config

    limit: Limit = MAX_LIMIT
    offset: Offset = 0


class TagCount(Model):
    """A tag, and how many memories have it."""

    tag: str
    count: int = Field(ge=1, description="Memories with it that the caller may see")


class TagPage(Model):
    """A part of the tags in use, how many there are in all, and those that are usual."""

    items: list[TagCount]
    total: int = Field(ge=0, description="Every tag in use that the caller may see, on any page")
    limit: int = Field(ge=1, le=MAX_LIMIT)
    offset: int = Field(ge=0)
    has_more: bool = Field(description="Whether tags follow this page")
    standard: list[str] = Field(description="Those to take before making a new one, used or not")

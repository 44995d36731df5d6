"""The memory, its drafts and patches, the queries and the pages."""

from typing import Any

from pydantic import ConfigDict, Field

from memories.base_model import Model
from memories.fields import (
    MAX_LIMIT,
    Category,
    Containing,
    Content,
    Importance,
    IsPublic,
    Kind,
    Limit,
    MemoryType,
    Offset,
    Omittable,
    Order,
    ReadOnly,
    SharedWith,
    Source,
    Standing,
    Status,
    Tagged,
    Tags,
    Timestamp,
)


def _without_null(schema: dict[str, Any]) -> None:
    for field in schema["properties"].values():
        if "anyOf" in field:
            value, _null = field.pop("anyOf")
            field.update(value)
            del field["default"]


class _Input(Model):
    # Strict: a number sent as a string is a mistake to be told, not to be guessed at.
    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra=_without_null)


def _sent(patch: _Input, model: type[_Input]) -> dict[str, Any]:
    # A door may add arguments of its own to the model.
    return {
        name: getattr(patch, name) for name in patch.model_fields_set & model.model_fields.keys()
    }


class MemoryDraft(_Input):
    """A memory to record."""

    content: Content
    tags: Tags
    memory_type: Kind = "fact"
    status: Standing = "active"
    importance: Importance = 5
    category: Omittable[Category] = None
    source: Omittable[Source] = None
    is_public: IsPublic = True
    read_only: ReadOnly = False
    shared_with_agents: SharedWith = Field(default_factory=list)


class MemoryPatch(_Input):
    """The fields to change. One that is not sent keeps its value; null is refused."""

    content: Omittable[Content] = None
    tags: Omittable[Tags] = None
    memory_type: Omittable[Kind] = None
    status: Omittable[Standing] = None
    importance: Omittable[Importance] = None
    category: Omittable[Category] = None
    source: Omittable[Source] = None

    def changes(self) -> dict[str, Any]:
        """Return the fields that were sent, by name."""
        return _sent(self, MemoryPatch)


class MemoryQuery(_Input):
    """Which memories, in which order, and which part of them. Filters compose with AND."""

    status: Omittable[Status] = Field(
        default=None, description="Only this status. Without it: everything but deleted"
    )
    memory_type: Omittable[MemoryType] = Field(default=None, description="Only this type")
    tag: Tagged = None
    q: Containing = None
    sort: Order = "id"
    limit: Limit = 10
    offset: Offset = 0


class PrimingQuery(_Input):
    """What to start a session with: which preferences and identities, and how much of them."""

    tag: Tagged = None
    q: Containing = None
    sort: Order = "updated_at"
    limit: Limit = 10
    offset: Offset = 0
    max_chars: int = Field(
        default=20_000,
        ge=1_000,
        le=1_000_000,
        description="The most characters of JSON to answer with; what is over is left out, whole",
    )

    def of_type(self, memory_type: MemoryType) -> MemoryQuery:
        """Return the query for one of the pages."""
        return MemoryQuery.model_construct(
            status="active",
            memory_type=memory_type,
            tag=self.tag,
            q=self.q,
            sort=self.sort,
            limit=self.limit,
            offset=self.offset,
        )


class Memory(Model):
    """One record, as every surface shows it."""

    id: int = Field(ge=1)
    content: str
    tags: list[str]
    created_at: Timestamp
    updated_at: Timestamp
    last_accessed_at: Timestamp | None
    memory_type: MemoryType
    status: Status
    version: int = Field(ge=1)


class Permissions(Model):
    """Who of the person's agents may read a memory, and who may change it."""

    model_config = _Input.model_config

    is_public: IsPublic
    read_only: ReadOnly
    shared_with_agents: SharedWith


class PermissionsPatch(_Input):
    """The grants to change. One that is not sent keeps its value."""

    is_public: Omittable[IsPublic] = None
    read_only: Omittable[ReadOnly] = None
    shared_with_agents: Omittable[SharedWith] = None

    def changes(self) -> dict[str, Any]:
        """Return the grants that were sent, by name."""
        return _sent(self, PermissionsPatch)


class FullMemory(Memory):
    """One record, with who made it, how it is used and who may use it."""

    agent_id: str
    importance: int = Field(ge=0, le=10)
    category: str | None
    source: str | None
    access_count: int = Field(ge=0)
    related_memories: list[int]
    permissions: Permissions


class Page(Model):
    """A part of the matches, and how many there are in all."""

    items: list[Memory]
    total: int = Field(ge=0, description="Every match the caller may see, on any page")
    limit: int = Field(ge=1, le=MAX_LIMIT)
    offset: int = Field(ge=0)
    has_more: bool = Field(description="Whether matches follow this page")


class FullPage(Page):
    """A page of full records."""

    items: list[FullMemory]  # type: ignore[assignment]  # a list that no one writes to


class PrimedContext(Model):
    """The start of a session: what a person prefers, and who they are."""

    preferences: Page
    identities: Page


class FullPrimedContext(PrimedContext):
    """The start of a session, with full records."""

    preferences: FullPage
    identities: FullPage

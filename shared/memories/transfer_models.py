"""The lines of an export and of an import, and what is told of each."""

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from memories.base_model import Model
from memories.errors import Problem
from memories.fields import (
    MAX_ID,
    MAX_LINES,
    AgentId,
    Category,
    Content,
    Count,
    ExportLimit,
    Importance,
    MemoryType,
    Moment,
    Offset,
    RelationType,
    Source,
    Status,
    Strength,
    Tags,
    Timestamp,
)
from memories.models import Memory, MemoryQuery, Permissions

Result = Literal["recorded", "kept", "refused"]


class ExportQuery(Model):
    """Which part of the records."""

    model_config = MemoryQuery.model_config

    after: Annotated[Offset, Field(description="Only records with an id above this")] = 0
    limit: ExportLimit = MAX_LINES


class ExportedRelation(Model):
    """How the memory relates to another."""

    relation_type: str
    to_id: int
    strength: float
    created_at: Timestamp
    agent_id: str


class ExportedMemory(Memory):
    """One record with all that is kept of it, and how it relates to others."""

    type: Literal["memory"] = "memory"
    agent_id: str
    importance: int
    category: str | None
    source: str | None
    access_count: int
    permissions: Permissions
    relations: list[ExportedRelation]


class ExportPage(Model):
    """Some records, each as a line of JSON. ``next`` is where to go on after, if more follow."""

    lines: list[str]
    next: int | None


Id = Annotated[int, Field(ge=1, le=MAX_ID)]


# Not checked, for that would build the model.
_OPEN = Permissions.model_construct(is_public=True, read_only=False, shared_with_agents=[])


class _Imported(Model):
    model_config = ConfigDict(extra="forbid", strict=True)


class _RelationFields(_Imported):
    relation_type: RelationType
    to_id: Id
    strength: Strength = 1.0
    created_at: Moment | None = None
    agent_id: AgentId | None = None


class RelationOfMemory(_RelationFields):
    """How an imported memory relates to another of the same import."""


class ImportedRelation(_RelationFields):
    """A relation between two memories, by the ids that they have here."""

    type: Literal["relation"]
    from_id: Id


class ImportedMemory(_Imported):
    """One record to take in as it is. What is null or not sent is as in a new one."""

    type: Literal["memory"] = "memory"
    id: Id | None = None
    content: Content
    tags: Tags
    created_at: Moment | None = None
    updated_at: Moment | None = None
    last_accessed_at: Moment | None = None
    memory_type: MemoryType = "fact"
    status: Status = "active"
    version: Annotated[Count, Field(ge=1)] = 1
    agent_id: AgentId | None = None
    importance: Importance = 5
    category: Category | None = None
    source: Source | None = None
    access_count: Count = 0
    permissions: Permissions = _OPEN
    relations: list[RelationOfMemory] = Field(default_factory=list)

    @model_validator(mode="after")
    def _an_id_comes_with_what_tells_it_from_others(self) -> Self:
        if self.id is not None and (self.created_at is None or self.agent_id is None):
            raise PydanticCustomError("identity", "an id needs created_at and agent_id beside it")
        return self


class ImportedLine(Model):
    """What became of a line, and the id that its memory has here.

    The problems are those of a refused line, or of relations of a memory that is not refused.
    """

    line: int = Field(ge=1)
    result: Result = Field(description="recorded: it is new here; kept: it was here already")
    id: int | None = None
    problems: list[Problem] = Field(default_factory=list)


class ImportReport(Model):
    """What became of each line that is not blank, and how many there are of each result.

    Relations count as lines where they are lines of their own.
    """

    recorded: int
    kept: int
    refused: int
    lines: list[ImportedLine]


def _type_of(line: Any) -> Any:
    return line.get("type", "memory") if isinstance(line, dict) else "memory"


ImportLine = Annotated[
    Annotated[ImportedMemory, Tag("memory")] | Annotated[ImportedRelation, Tag("relation")],
    Discriminator(
        _type_of,
        custom_error_type="line_type",
        custom_error_message="type must be memory or relation",
    ),
]

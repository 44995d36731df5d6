"""The memory, its drafts and patches, the query and the page.

The types that carry a rule are named once here; both doors take them, so neither can differ.
"""

import re
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
)
from pydantic_core import PydanticCustomError

from memories.text import forbidden_character, is_blank

MAX_ID = 2**63 - 1
MAX_LIMIT = 100
MAX_TAGS = 20
MAX_BATCH = 25


def timestamp(moment: datetime) -> str:
    """Write an aware UTC ``moment`` as every surface shows it, in microseconds with a Z."""
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _plain_text(text: str) -> str:
    if forbidden := forbidden_character(text):
        raise PydanticCustomError(
            "forbidden_character", "must not hold the character {name}", {"name": forbidden}
        )
    return text


def _not_blank(text: str) -> str:
    if is_blank(text):
        raise PydanticCustomError("blank", "must not be empty or only white space")
    return text


def _not_empty_filter(text: str) -> str:
    if is_blank(text):
        raise PydanticCustomError("blank", "filter cannot be empty")
    return text


def _distinct_tags(tags: list[str]) -> list[str]:
    distinct = list(dict.fromkeys(tags))
    if not 1 <= len(distinct) <= MAX_TAGS:
        raise PydanticCustomError(
            "tag_count", "must hold 1 to {most} different tags", {"most": MAX_TAGS}
        )
    return distinct


def _digits(value: object, info: ValidationInfo) -> object:
    # Pydantic reads "1.0", "1_000" and " 7" as integers; an id or a limit in a URL is digits.
    if info.mode in ("python", "json"):
        return value
    if not re.fullmatch(r"-?[0-9]{1,100}", str(value)):
        raise PydanticCustomError("int_parsing", "must be a whole number written in digits")
    return int(str(value))


def _not_null(value: object) -> object:
    if value is None:
        raise PydanticCustomError("null", "must not be null")
    return value


def _capped(limit: int) -> int:
    return min(limit, MAX_LIMIT)


Content = Annotated[
    str,
    Field(min_length=1, max_length=8_000, description="The text to remember, kept exactly as sent"),
    AfterValidator(_plain_text),
    AfterValidator(_not_blank),
]
Tag = Annotated[
    str,
    Field(min_length=1, max_length=64),
    AfterValidator(_plain_text),
    AfterValidator(_not_blank),
]
Tags = Annotated[
    list[Tag],
    Field(
        json_schema_extra={"minItems": 1},
        description=f"1 to {MAX_TAGS} different tags; the order is kept, a repeat is dropped",
    ),
    AfterValidator(_distinct_tags),
]
MemoryType = Literal["preference", "fact", "identity", "event"]
Status = Literal["active", "invalid", "deleted"]
EditableStatus = Literal["active", "invalid"]
Kind = Annotated[
    MemoryType,
    Field(
        description="What it is: a preference (likes, ways of working), an identity (who they "
        "are), an event (what happened, with its date), or a fact"
    ),
]
Standing = Annotated[
    EditableStatus, Field(description="Whether it holds: invalid for what turned out wrong")
]
Sort = Literal["id", "created_at", "updated_at", "last_accessed_at"]
MemoryId = Annotated[int, Field(ge=1, le=MAX_ID), BeforeValidator(_digits)]
FilterText = Annotated[
    str, Field(max_length=256), AfterValidator(_plain_text), AfterValidator(_not_empty_filter)
]
Timestamp = Annotated[
    str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-04-06T14:12:00.000000Z"])
]


# None stands for "not sent" and cannot be sent.
Value = TypeVar("Value")
Omittable = Annotated[Value | None, BeforeValidator(_not_null)]


def _without_null(schema: dict[str, Any]) -> None:
    for field in schema["properties"].values():
        if "anyOf" in field:
            value, _null = field.pop("anyOf")
            field.update(value)
            del field["default"]


class _Input(BaseModel):
    # Strict: a number sent as a string is a mistake to be told, not to be guessed at.
    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, json_schema_extra=_without_null
    )


class MemoryDraft(_Input):
    """A memory to record."""

    content: Content
    tags: Tags
    memory_type: Kind = "fact"
    status: Standing = "active"


class MemoryPatch(_Input):
    """The fields to change. One that is not sent keeps its value; null is refused."""

    content: Omittable[Content] = None
    tags: Omittable[Tags] = None
    memory_type: Omittable[Kind] = None
    status: Omittable[Standing] = None

    def changes(self) -> dict[str, Any]:
        """Return the fields that were sent, by name."""
        sent = self.model_fields_set & MemoryPatch.model_fields.keys()
        return {name: getattr(self, name) for name in sent}


Tagged = Annotated[Omittable[FilterText], Field(description="Only memories with exactly this tag")]
Containing = Annotated[
    Omittable[FilterText],
    Field(
        description="Only memories that hold this text in their content or in one of their tags; "
        "case is ignored, and no character is special"
    ),
]
Order = Annotated[
    Sort, Field(description="By id, oldest first; or by a time, newest first, never accessed last")
]
Limit = Annotated[
    int,
    Field(ge=1, description=f"Page size; above {MAX_LIMIT} it is served as {MAX_LIMIT}"),
    AfterValidator(_capped),
    BeforeValidator(_digits),
]
Offset = Annotated[
    int,
    Field(ge=0, le=MAX_ID, description="How many matches to skip"),
    BeforeValidator(_digits),
]


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


class Memory(BaseModel):
    """One record, as every surface shows it."""

    model_config = ConfigDict(frozen=True)

    id: int = Field(ge=1)
    content: str
    tags: list[str]
    created_at: Timestamp
    updated_at: Timestamp
    last_accessed_at: Timestamp | None
    memory_type: MemoryType
    status: Status
    version: int = Field(ge=1)


class Page(BaseModel):
    """A part of the matches, and how many there are in all."""

    model_config = ConfigDict(frozen=True)

    items: list[Memory]
    total: int = Field(ge=0, description="Every match the caller may see, on any page")
    limit: int = Field(ge=1, le=MAX_LIMIT)
    offset: int = Field(ge=0)
    has_more: bool = Field(description="Whether matches follow this page")


class PrimedContext(BaseModel):
    """The start of a session: what a person prefers, and who they are."""

    model_config = ConfigDict(frozen=True)

    preferences: Page
    identities: Page

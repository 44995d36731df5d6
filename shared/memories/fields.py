"""The types of the fields, each rule named once. Every door takes its inputs by these."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from memories.principal import MAX_NAME_LENGTH
from memories.text import PLAIN, PLAIN_NOT_BLANK, forbidden_character, is_blank

MAX_ID = 2**63 - 1
MAX_LIMIT = 100
MAX_TAGS = 20
MAX_SENT_TAGS = 100
MAX_BATCH = 25
MAX_SHARED = 100
RELATION_TYPE = "[a-z][a-z_]{0,31}"
RELATION_TYPE_RULE = "must be 1 to 32 letters from a to z and underscores, a letter first"
# Of an import, and of a page of an export.
MAX_LINES = 1_000
# What every reader of JSON keeps exactly, and what can still be counted on from.
_MAX_COUNT = 2**53 - 1
MAX_CAPABILITIES = 32


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


def _relation_type(text: str) -> str:
    if not re.fullmatch(RELATION_TYPE, text):
        raise PydanticCustomError("relation_type", RELATION_TYPE_RULE)
    return text


def _distinct_tags(tags: list[str]) -> list[str]:
    distinct = list(dict.fromkeys(tags))
    if not 1 <= len(distinct) <= MAX_TAGS:
        raise PydanticCustomError(
            "tag_count", "must hold 1 to {most} different tags", {"most": MAX_TAGS}
        )
    return distinct


def _distinct(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _digits(value: object, info: ValidationInfo) -> object:
    # Pydantic reads "1.0", "1_000" and " 7" as integers; an id or a limit in a URL is digits.
    if info.mode in ("python", "json"):
        return value
    if not re.fullmatch(r"-?[0-9]{1,100}", str(value)):
        raise PydanticCustomError("int_parsing", "must be a whole number written in digits")
    return int(str(value))


def _four_decimals(number: float) -> float:
    return round(number, 4) + 0.0  # which makes a zero of a negative one


def _not_null(value: object) -> object:
    if value is None:
        raise PydanticCustomError("null", "must not be null")
    return value


def _moment(text: str) -> str:
    try:
        if timestamp(datetime.fromisoformat(text)) == text:
            return text
    except ValueError:
        pass
    raise PydanticCustomError("timestamp", "must be a time like 2026-04-06T14:12:00.000000Z")


def _capped_lines(limit: int) -> int:
    return min(limit, MAX_LINES)


def _printable(key: str) -> str:
    if not re.fullmatch("[ -~]*", key):
        raise PydanticCustomError("printable_ascii", "must hold printable ASCII characters only")
    return key


def _capped(limit: int) -> int:
    return min(limit, MAX_LIMIT)


# What the checks of texts are as patterns. Those for "not blank" come after that for plain text.
PATTERNS: Mapping[Callable[..., Any], str] = {
    _plain_text: PLAIN,
    _not_blank: PLAIN_NOT_BLANK,
    _not_empty_filter: PLAIN_NOT_BLANK,
}

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
        # With repeats; of more than that, not each is worth a look.
        max_length=MAX_SENT_TAGS,
        json_schema_extra={"minItems": 1},
        description=f"1 to {MAX_TAGS} different tags; the order is kept, a repeat is dropped",
    ),
    AfterValidator(_distinct_tags),
]
Importance = Annotated[
    int, Field(ge=0, le=10, description="How much it matters, from 0 to 10; 5 unless it is said")
]
Category = Annotated[
    str,
    Field(min_length=1, max_length=64, description="A group of your own making"),
    AfterValidator(_plain_text),
    AfterValidator(_not_blank),
]
Source = Annotated[
    str,
    Field(min_length=1, max_length=256, description="Where it is known from"),
    AfterValidator(_plain_text),
    AfterValidator(_not_blank),
]
AgentId = Annotated[
    str,
    Field(min_length=1, max_length=MAX_NAME_LENGTH),
    AfterValidator(_plain_text),
    AfterValidator(_not_blank),
]
AgentName = Annotated[
    str,
    Field(min_length=1, max_length=128, description="What a person knows the agent by"),
    AfterValidator(_plain_text),
    AfterValidator(_not_blank),
]
Capabilities = Annotated[
    list[
        Annotated[
            str,
            Field(min_length=1, max_length=64),
            AfterValidator(_plain_text),
            AfterValidator(_not_blank),
        ]
    ],
    Field(
        max_length=MAX_CAPABILITIES,
        description="What the agent can do, in its own words; a repeat is dropped",
    ),
    AfterValidator(_distinct),
]
MetadataKey = Annotated[
    str,
    Field(min_length=1, max_length=64),
    AfterValidator(_plain_text),
    AfterValidator(_not_blank),
]
MetadataValue = Annotated[str, Field(max_length=1_000), AfterValidator(_plain_text)]
IsPublic = Annotated[
    bool,
    Field(description="Whether all of the person's agents may read it; true unless it is said"),
]
ReadOnly = Annotated[
    bool, Field(description="Whether agents other than its maker may not change it")
]
SharedWith = Annotated[
    list[AgentId],
    Field(
        max_length=MAX_SHARED,
        description="The agents that may read it, besides its maker, though it is not public",
    ),
    AfterValidator(_distinct),
]
RelationType = Annotated[
    str,
    Field(
        json_schema_extra={"pattern": f"^{RELATION_TYPE}$"},
        description="How the one relates to the other: follows, contradicts, elaborates, "
        "supersedes, or a word of your own",
    ),
    AfterValidator(_relation_type),
]
Strength = Annotated[
    float,
    Field(
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="How strongly, from 0 to 1; kept to four decimals",
    ),
    AfterValidator(_four_decimals),
]
Direction = Annotated[
    Literal["out", "in", "both"],
    Field(
        description="Only relations that lead out of the memory, or only those that lead into it; "
        "both unless it is said"
    ),
]
IdempotencyKey = Annotated[
    str,
    Field(
        min_length=1,
        max_length=255,
        json_schema_extra={"pattern": "^[ -~]+$"},
        description="Of your own making, new for each thing to record: a repeat with the same key "
        "within 24 hours records nothing and returns the first answer",
    ),
    AfterValidator(_printable),
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


# A time that is sent: exactly as this service writes it.
Moment = Annotated[str, Field(max_length=27), AfterValidator(_moment)]
Count = Annotated[int, Field(ge=0, le=_MAX_COUNT)]
ExportLimit = Annotated[
    int,
    Field(ge=1, description=f"Records of a page; above {MAX_LINES} it is {MAX_LINES}"),
    AfterValidator(_capped_lines),
    BeforeValidator(_digits),
]

# None stands for "not sent" and cannot be sent.
Value = TypeVar("Value")
Omittable = Annotated[Value | None, BeforeValidator(_not_null)]
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

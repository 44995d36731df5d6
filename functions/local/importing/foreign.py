"""What fits of another service's memories: texts split, tags shortened, times rewritten."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from memories.fields import MAX_TAGS, timestamp
from memories.text import forbidden_character

MAX_CONTENT = 8_000
MAX_TAG = 64

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


def parts_of(text: str) -> list[str]:
    """Return the text in parts that fit, split where there is white space if there is any near."""
    parts = []
    rest = plain(text)
    while len(rest) > MAX_CONTENT:
        blank = max(rest.rfind(each, MAX_CONTENT // 2, MAX_CONTENT) for each in "\n ")
        end = blank if blank > 0 else MAX_CONTENT
        parts.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [part for part in [*parts, rest] if part.strip()]


def tags_of(names: Sequence[str], otherwise: str) -> tuple[list[str], list[str]]:
    """Return tags that fit, ``otherwise`` where none does; and what had to be changed for it."""
    changes: list[str] = []
    tags: list[str] = []
    for name in names:
        tag = plain(name)
        if len(tag) > MAX_TAG:
            tag = f"{tag[: MAX_TAG - 1]}…"
            changes.append(f"a tag of {len(name)} characters is cut to {MAX_TAG}")
        if tag.strip() and tag not in tags:
            tags.append(tag)
    if len(tags) > MAX_TAGS:
        changes.append(f"of {len(tags)} tags the first {MAX_TAGS} are kept")
    return tags[:MAX_TAGS] or [otherwise], changes


def plain(text: str) -> str:
    """Return the text without the characters that no text may hold."""
    return _FORBIDDEN.sub("", text) if forbidden_character(text) else text


def moment_of(value: object) -> str | None:
    """Return a time that is written as seconds since 1970, or in ISO 8601, as it is written here.

    None for what is no time. One without a zone is taken for UTC.
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return timestamp(datetime.fromtimestamp(value, UTC))
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return timestamp(zoned.astimezone(UTC))
    except (ValueError, OverflowError, OSError):
        pass
    return None

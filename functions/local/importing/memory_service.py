"""The JSON export of mcp-memory-service: one object, with all memories in a list."""

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from local.importing.foreign import moment_of, parts_of, plain, tags_of
from local.importing.source import Item, Link, Remark, line_of
from memories.fields import MemoryType

_TYPES = get_args(MemoryType)
# Its types that are one of ours by another name.
_ALIASES = {"meeting": "event", "milestone": "event"}
_LONGEST_CATEGORY = 64
_LONGEST_SOURCE = 256


class MemoryServiceExport:
    """Source over an export, which is held in memory."""

    name = "an export of mcp-memory-service"

    def __init__(self, export: Mapping[str, Any]) -> None:
        memories = export.get("memories")
        self._memories: list[object] = memories if isinstance(memories, list) else []
        self.size = len(self._memories)

    def items(self) -> Iterator[Item | Remark]:
        for number, memory in enumerate(self._memories, 1):
            place = f"memory {number}"
            content = memory.get("content") if isinstance(memory, dict) else None
            parts = parts_of(content) if isinstance(content, str) else []
            if not isinstance(memory, dict) or not parts:
                yield Remark(place, "has no content", is_refusal=True)
                continue
            fields, changes = _fields(memory)
            if len(parts) > 1:
                changes.append(f"is too long for one memory and becomes {len(parts)}")
            yield from (Remark(place, change) for change in changes)
            for index, part in enumerate(parts):
                yield Item(place, None, line_of({"content": part, **fields}), int(index == 0))

    def links(self) -> Iterator[Link | Remark]:
        return iter(())


def _fields(memory: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return what a memory is here, besides its text, and what had to be changed for it."""
    tags, changes = tags_of(_names(memory.get("tags")), "untagged")
    created_at = moment_of(memory.get("created_at")) or moment_of(memory.get("created_at_iso"))
    updated_at = moment_of(memory.get("updated_at")) or moment_of(memory.get("updated_at_iso"))
    if created_at is None:
        changes.append("has no time of creation; now is taken for it")
    named = str(memory.get("memory_type") or "")
    fields = {
        "tags": tags,
        "created_at": created_at,
        "updated_at": updated_at if created_at else None,
        "memory_type": named if named in _TYPES else _ALIASES.get(named, "fact"),
        # Its own name for what it is: there are many more of them than types here.
        "category": plain(named)[:_LONGEST_CATEGORY].strip() or None,
        "source": _source(memory),
    }
    return {name: value for name, value in fields.items() if value is not None}, changes


def _names(tags: object) -> list[str]:
    # Older exports have them in one text.
    if isinstance(tags, str):
        return [tag.strip() for tag in tags.split(",")]
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []


def _source(memory: Mapping[str, Any]) -> str | None:
    metadata = memory.get("metadata")
    named = metadata.get("source") if isinstance(metadata, dict) else None
    source = named if isinstance(named, str) else memory.get("export_source")
    return plain(source)[:_LONGEST_SOURCE].strip() or None if isinstance(source, str) else None

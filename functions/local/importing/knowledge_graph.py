"""The file of the reference knowledge-graph memory server: entities, observations, relations.

An entity becomes a memory that says what it is; each observation of it becomes one that elaborates
it. Relations between entities become relations between the memories that say what these are.
"""

import json
import re
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, BinaryIO

from local.importing.foreign import parts_of, tags_of
from local.importing.source import Item, Link, Remark, line_of

_LONGEST_TYPE = 32
# Where nothing of a type's name can be part of one here.
_OTHER_TYPE = "related_to"

_Place = tuple[str, dict[str, Any]]


class KnowledgeGraph:
    """Source over a graph, which is held in memory."""

    name = "a knowledge graph"

    def __init__(self, parts: list[_Place], unread: list[Remark]) -> None:
        self._entities = [part for part in parts if part[1].get("type") == "entity"]
        self._relations = [part for part in parts if part[1].get("type") == "relation"]
        self._unread = unread
        self.size = sum(1 + len(_observations(entity)) for _, entity in self._entities)

    @classmethod
    def of_lines(cls, file: BinaryIO) -> "KnowledgeGraph":
        """Read the server's own file, an object a line."""
        parts: list[_Place] = []
        unread: list[Remark] = []
        for number, text in enumerate(file, 1):
            try:
                part = json.loads(text) if text.strip() else None
            except ValueError:
                part = text
            if isinstance(part, dict) and part.get("type") in {"entity", "relation"}:
                parts.append((f"line {number}", part))
            elif part is not None:
                told = "is neither an entity nor a relation"
                unread.append(Remark(f"line {number}", told, is_refusal=True))
        return cls(parts, unread)

    @classmethod
    def of_object(cls, graph: Mapping[str, Any]) -> "KnowledgeGraph":
        """Read what the server's tool read_graph answers: one object with two lists."""
        parts = [
            (f"{kind} {number}", {"type": kind, **each})
            for kind, name in (("entity", "entities"), ("relation", "relations"))
            for number, each in enumerate(graph.get(name) or [], 1)
            if isinstance(each, dict)
        ]
        return cls(parts, [])

    def items(self) -> Iterator[Item | Remark]:
        yield from self._unread
        for place, entity in self._entities:
            name, kind = entity.get("name"), entity.get("entityType")
            if not isinstance(name, str) or not name.strip():
                yield Remark(place, "an entity needs a name", is_refusal=True)
                continue
            kind = kind if isinstance(kind, str) and kind.strip() else "entity"
            tags, changes = tags_of([name, kind], "entity")
            yield from (Remark(place, change) for change in changes)
            said = f"{name} ({kind})"
            # A name may be longer than a text; what it is called is still told by its tags.
            yield _item(place, name, parts_of(said)[0], tags)
            for number, observation in enumerate(_observations(entity), 1):
                yield from _observed(f"{place}, observation {number}", name, observation, tags)

    def links(self) -> Iterator[Link | Remark]:
        for place, entity in self._entities:
            name = entity.get("name")
            for number, observation in enumerate(_observations(entity), 1):
                if isinstance(observation, str):
                    at = f"{place}, observation {number}"
                    for part in parts_of(observation):
                        yield Link(at, (name, part), name, {"relation_type": "elaborates"})
        for place, relation in self._relations:
            kind = str(relation.get("relationType", ""))
            named = _type_of(kind)
            if named != kind:
                yield Remark(place, f"its type becomes {named}")
            ends = relation.get("from"), relation.get("to")
            yield Link(place, ends[0], ends[1], {"relation_type": named})


def _observed(
    place: str, name: str, observation: object, tags: list[str]
) -> Iterator[Item | Remark]:
    parts = parts_of(observation) if isinstance(observation, str) else []
    if not parts:
        yield Remark(place, "an observation must be a text that is not blank", is_refusal=True)
    if len(parts) > 1:
        yield Remark(place, f"is too long for one memory and becomes {len(parts)}")
    for index, part in enumerate(parts):
        yield _item(place, (name, part), part, tags, int(index == 0))


def _item(place: str, key: Hashable, content: str, tags: list[str], weight: int = 1) -> Item:
    memory = {"content": content, "tags": tags, "source": "knowledge graph"}
    return Item(place, key, line_of(memory), weight)


def _observations(entity: Mapping[str, Any]) -> list[object]:
    found = entity.get("observations")
    return found if isinstance(found, list) else []


def _type_of(name: str) -> str:
    """Return the type of relation that a name stands for: words in lower case, joined by ``_``."""
    apart = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    words = re.sub(r"[^a-z]+", "_", apart.lower()).strip("_")
    return words[:_LONGEST_TYPE].rstrip("_") or _OTHER_TYPE

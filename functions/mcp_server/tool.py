"""A tool, declared once: its arguments, its result and its hints."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mcp_types import Tool as ToolDeclaration
from mcp_types import ToolAnnotations
from pydantic import BaseModel

from mcp_server.schemas import schema_of
from memories.principal import Principal
from memories.service import MemoryService


@dataclass(frozen=True)
class Remarked:
    """A result, and what to tell a model beside it."""

    result: BaseModel
    remarks: list[str]


@dataclass(frozen=True)
class Tool:
    """What a tool is called with, what it does and what it answers."""

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    result: type[BaseModel]
    # What a token must allow, to be told before the call. The service itself checks it again.
    scope: str
    run: Callable[[MemoryService, Principal, Any], BaseModel | Remarked]
    # Even a search writes: it marks what it returns as used.
    reads_only: bool = False
    destructive: bool = False
    idempotent: bool = False

    @cached_property
    def declaration(self) -> ToolDeclaration:
        return ToolDeclaration(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=schema_of(self.arguments, "validation"),
            output_schema=schema_of(self.result, "serialization"),
            annotations=ToolAnnotations(
                title=self.title,
                read_only_hint=self.reads_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.idempotent,
                open_world_hint=False,
            ),
        )

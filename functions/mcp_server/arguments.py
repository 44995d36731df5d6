"""What the tools are called with: the service's own inputs, as flat arguments."""

from typing import Annotated

from pydantic import Field

from memories.base_model import Model
from memories.fields import MAX_BATCH, IdempotencyKey, MemoryId, Omittable
from memories.models import (
    MemoryDraft,
    MemoryPatch,
    MemoryQuery,
    PermissionsPatch,
    PrimingQuery,
)

TheId = Annotated[MemoryId, Field(description="The memory's id")]
ExpectedVersion = Annotated[
    Omittable[int],
    Field(description="Do it only if the memory is at this version, as you last read it"),
]


Full = Annotated[
    bool,
    Field(description="Whether to show all fields of each: maker, importance, use, permissions"),
]


class PrimeMemoryContext(PrimingQuery):
    full: Full = False


class SearchMemories(MemoryQuery):
    full: Full = False


class RecordMemory(MemoryDraft):
    idempotency_key: Omittable[IdempotencyKey] = None


class RecordMemories(Model):
    model_config = MemoryDraft.model_config

    memories: list[MemoryDraft] = Field(
        min_length=1, max_length=MAX_BATCH, description="The memories to record, all or none"
    )
    idempotency_key: Omittable[IdempotencyKey] = None


class InspectMemory(Model):
    model_config = MemoryDraft.model_config

    memory_id: TheId
    full: Full = False


class ShareMemory(PermissionsPatch):
    memory_id: TheId


class ReviseMemory(MemoryPatch):
    memory_id: TheId
    expected_version: ExpectedVersion = None


class RetireMemory(Model):
    model_config = MemoryDraft.model_config

    memory_id: TheId
    expected_version: ExpectedVersion = None

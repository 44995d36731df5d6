"""The memories themselves, and who may use them."""

from typing import Annotated, Literal

from aws_lambda_powertools.event_handler import Response
from pydantic import Field, TypeAdapter

from http_api.answers import json_answer, memory_answer
from http_api.operations import operation
from memories.base_model import DEFERRED, Model
from memories.fields import MAX_BATCH, Omittable
from memories.models import (
    FullMemory,
    FullPage,
    Memory,
    MemoryDraft,
    MemoryPatch,
    MemoryQuery,
    Page,
    Permissions,
    PermissionsPatch,
)
from memories.principal import Principal
from memories.service import MemoryService

Batch = Annotated[list[MemoryDraft], Field(min_length=1, max_length=MAX_BATCH)]

_MEMORIES: TypeAdapter[list[Memory]] = TypeAdapter(list[Memory], config=DEFERRED)


View = Annotated[
    Omittable[Literal["full"]],
    Field(description="With `full`, each record with all its fields; without it, with nine"),
]


class ListQuery(MemoryQuery):
    """Which memories, and how they are shown."""

    view: View = None


class ItemQuery(Model):
    """How a memory is shown."""

    model_config = MemoryQuery.model_config

    view: View = None


@operation(
    "POST",
    "/memories",
    summary="Record a memory",
    body=MemoryDraft,
    returns=Memory,
    status=201,
    repeatable=True,
    errors=(409, 413, 415, 422),
)
def record_memory(
    service: MemoryService, principal: Principal, body: MemoryDraft, key: str | None
) -> Response[str]:
    (memory,), replayed = service.recording.one(principal, body, key)
    location = {"Location": f"/memories/{memory.id}"}
    return memory_answer(memory, status=201, headers=location | _replay(replayed))


@operation(
    "POST",
    "/memories/batch",
    summary="Record up to 25 memories, all or none",
    body=Batch,
    returns=list[Memory],
    status=201,
    repeatable=True,
    errors=(409, 413, 415, 422),
)
def record_batch(
    service: MemoryService, principal: Principal, body: list[MemoryDraft], key: str | None
) -> Response[str]:
    memories, replayed = service.recording.batch(principal, body, key)
    text = _MEMORIES.dump_json(memories).decode()
    return json_answer(text, status=201, headers=_replay(replayed))


@operation(
    "GET",
    "/memories",
    summary="List and search memories",
    query=ListQuery,
    returns=Page | FullPage,
    errors=(422,),
)
def search_memories(
    service: MemoryService, principal: Principal, query: ListQuery
) -> Response[str]:
    return json_answer(
        service.search(principal, query, full=query.view == "full").model_dump_json()
    )


@operation(
    "GET",
    "/memories/<memory_id>",
    summary="Read a memory",
    query=ItemQuery,
    returns=Memory | FullMemory,
    errors=(404, 422),
)
def inspect_memory(
    service: MemoryService, principal: Principal, memory_id: int, query: ItemQuery
) -> Response[str]:
    return memory_answer(service.inspect(principal, memory_id, full=query.view == "full"))


@operation(
    "PATCH",
    "/memories/<memory_id>",
    summary="Change the fields that are sent",
    body=MemoryPatch,
    returns=Memory,
    precondition=True,
    errors=(404, 409, 412, 413, 415, 422),
)
def revise_memory(
    service: MemoryService,
    principal: Principal,
    memory_id: int,
    body: MemoryPatch,
    expected_version: int | None,
) -> Response[str]:
    return memory_answer(service.revise(principal, memory_id, body, expected_version))


@operation(
    "DELETE",
    "/memories/<memory_id>",
    summary="Retire a memory",
    returns=Memory,
    precondition=True,
    errors=(404, 412, 422),
)
def retire_memory(
    service: MemoryService, principal: Principal, memory_id: int, expected_version: int | None
) -> Response[str]:
    return memory_answer(service.retire(principal, memory_id, expected_version))


@operation(
    "GET",
    "/memories/<memory_id>/permissions",
    summary="Say who may use a memory",
    returns=Permissions,
    errors=(404, 422),
)
def get_permissions(service: MemoryService, principal: Principal, memory_id: int) -> Response[str]:
    return json_answer(service.permissions(principal, memory_id).model_dump_json())


@operation(
    "PUT",
    "/memories/<memory_id>/permissions",
    summary="Set who may use a memory, as its maker",
    body=Permissions,
    returns=Permissions,
    errors=(404, 413, 415, 422),
)
def put_permissions(
    service: MemoryService, principal: Principal, memory_id: int, body: Permissions
) -> Response[str]:
    patch = PermissionsPatch.model_validate(body.model_dump())
    return json_answer(service.share(principal, memory_id, patch).model_dump_json())


def _replay(replayed: bool) -> dict[str, str]:
    return {"Idempotent-Replayed": "true"} if replayed else {}

"""How the memories relate to one another."""

from aws_lambda_powertools.event_handler import Response

from http_api.answers import json_answer
from http_api.operations import operation
from memories.principal import Principal
from memories.relation_models import Relation, RelationDraft, RelationPage, RelationQuery
from memories.service import MemoryService


@operation(
    "GET",
    "/memories/<memory_id>/relations",
    summary="List the relations of a memory",
    query=RelationQuery,
    returns=RelationPage,
    errors=(404, 422),
)
def list_relations(
    service: MemoryService, principal: Principal, memory_id: int, query: RelationQuery
) -> Response[str]:
    return json_answer(service.relations.listed(principal, memory_id, query).model_dump_json())


@operation(
    "PUT",
    "/memories/<memory_id>/relations/<relation_type>/<to_id>",
    summary="Relate a memory to another, or set how strongly",
    body=RelationDraft,
    body_optional=True,
    creates=True,
    returns=Relation,
    errors=(404, 409, 413, 415, 422),
)
def put_relation(
    service: MemoryService,
    principal: Principal,
    *,
    memory_id: int,
    relation_type: str,
    to_id: int,
    body: RelationDraft,
) -> Response[str]:
    relation, is_new = service.relations.relate(principal, memory_id, relation_type, to_id, body)
    return json_answer(relation.model_dump_json(), status=201 if is_new else 200)


@operation(
    "DELETE",
    "/memories/<memory_id>/relations/<relation_type>/<to_id>",
    summary="Remove a relation of a memory",
    returns=Relation,
    errors=(404, 409, 422),
)
def delete_relation(
    service: MemoryService, principal: Principal, memory_id: int, relation_type: str, to_id: int
) -> Response[str]:
    relation = service.relations.unrelate(principal, memory_id, relation_type, to_id)
    return json_answer(relation.model_dump_json())

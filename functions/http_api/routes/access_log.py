"""The access log of a memory."""

from aws_lambda_powertools.event_handler import Response

from http_api.answers import json_answer
from http_api.operations import operation
from memories.access_log import LogPage, LogQuery
from memories.principal import Principal
from memories.service import MemoryService


@operation(
    "GET",
    "/memories/<memory_id>/access-log",
    summary="Say who used a memory, when and how",
    query=LogQuery,
    returns=LogPage,
    errors=(404, 422),
)
def get_access_log(
    service: MemoryService, principal: Principal, memory_id: int, query: LogQuery
) -> Response[str]:
    return json_answer(service.log.page(principal, memory_id, query).model_dump_json())

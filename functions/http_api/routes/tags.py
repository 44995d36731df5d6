"""Which tags there are, and which to take."""

from aws_lambda_powertools.event_handler import Response

from http_api.answers import json_answer
from http_api.operations import operation
from memories.principal import Principal
from memories.service import MemoryService
from memories.tag_models import TagPage, TagQuery


@operation(
    "GET",
    "/tags",
    summary="List the tags in use, most used first, and the standard ones",
    query=TagQuery,
    returns=TagPage,
    errors=(422,),
)
def list_tags(service: MemoryService, principal: Principal, query: TagQuery) -> Response[str]:
    return json_answer(service.tags.listed(principal, query).model_dump_json())

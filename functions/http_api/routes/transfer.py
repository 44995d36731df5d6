"""Whole records, out and in."""

from aws_lambda_powertools.event_handler import Response

from http_api.answers import json_answer, lines_answer
from http_api.errors import LINES
from http_api.operations import operation
from memories.principal import Principal
from memories.service import MemoryService
from memories.transfer_models import ExportedMemory, ExportQuery, ImportLine, ImportReport


@operation(
    "GET",
    "/export",
    summary="Export memories whole, one a line; the header Link has the next page, if there is one",
    query=ExportQuery,
    returns=ExportedMemory,
    answers=LINES,
    errors=(422,),
)
def export_memories(
    service: MemoryService, principal: Principal, query: ExportQuery
) -> Response[str]:
    page = service.transfer.export(principal, query)
    if page.next is None:
        return lines_answer(page.lines, {})
    link = f'</export?after={page.next}&limit={query.limit}>; rel="next"'
    return lines_answer(page.lines, {"Link": link})


@operation(
    "POST",
    "/import",
    summary="Import memories whole, one a line; those that are here already are kept as they are",
    body=ImportLine,
    takes=LINES,
    returns=ImportReport,
    errors=(413, 415, 422),
    limited=False,
)
def import_memories(service: MemoryService, principal: Principal, body: bytes) -> Response[str]:
    return json_answer(service.transfer.take_in(principal, body).model_dump_json())

"""Whether the function runs, and whether it can serve."""

from aws_lambda_powertools.event_handler import Response
from pydantic import Field

from http_api.answers import json_answer
from http_api.operations import operation
from memories.base_model import Model
from memories.errors import StoreUnavailable
from memories.service import MemoryService


class Health(Model):
    """The function runs."""

    status: str = Field(examples=["ok"])


class Readiness(Model):
    """Whether the function can serve, check by check."""

    status: str = Field(examples=["ready", "not_ready"])
    checks: dict[str, str] = Field(examples=[{"store": "ok"}])


@operation("GET", "/health", summary="Is it running?", returns=Health, authorised=False)
def health(service: MemoryService) -> Response[str]:
    return json_answer('{"status":"ok"}')


@operation(
    "GET", "/ready", summary="Can it serve?", returns=Readiness, authorised=False, errors=(503,)
)
def ready(service: MemoryService) -> Response[str]:
    try:
        service.check()
    except StoreUnavailable:
        return json_answer('{"status":"not_ready","checks":{"store":"failed"}}', status=503)
    return json_answer('{"status":"ready","checks":{"store":"ok"}}')

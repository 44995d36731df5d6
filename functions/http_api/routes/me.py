"""The user who asks."""

from aws_lambda_powertools.event_handler import Response

from http_api.answers import json_answer, receipt_answer
from http_api.operations import operation
from memories.account_models import Me, MePatch, Receipt
from memories.principal import Principal
from memories.service import MemoryService


@operation("GET", "/me", summary="Read what is kept of the user", returns=Me)
def get_me(service: MemoryService, principal: Principal) -> Response[str]:
    return json_answer(service.accounts.me(principal).model_dump_json())


@operation(
    "PATCH",
    "/me",
    summary="Merge metadata into the user's",
    body=MePatch,
    returns=Me,
    errors=(409, 413, 415, 422),
)
def revise_me(service: MemoryService, principal: Principal, body: MePatch) -> Response[str]:
    return json_answer(service.accounts.revise_me(principal, body).model_dump_json())


@operation(
    "DELETE",
    "/me",
    summary="Erase all that is the user's, for good",
    returns=Receipt,
    continues=True,
    registers=False,
    limited=False,
)
def erase_me(service: MemoryService, principal: Principal) -> Response[str]:
    return receipt_answer(service.erasure.erase_user(principal))

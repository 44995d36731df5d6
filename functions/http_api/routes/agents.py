"""The user's agents."""

from aws_lambda_powertools.event_handler import Response

from http_api.answers import json_answer, receipt_answer
from http_api.operations import operation
from memories.account_models import Agent, AgentDescription, AgentPage, AgentQuery, Receipt
from memories.principal import Principal
from memories.service import MemoryService


@operation(
    "GET",
    "/agents",
    summary="List the user's agents",
    query=AgentQuery,
    returns=AgentPage,
    errors=(422,),
)
def list_agents(service: MemoryService, principal: Principal, query: AgentQuery) -> Response[str]:
    return json_answer(service.accounts.agents(principal, query).model_dump_json())


@operation(
    "GET",
    "/agents/<agent_id>",
    summary="Read an agent",
    returns=Agent,
    errors=(404, 422),
)
def get_agent(service: MemoryService, principal: Principal, agent_id: str) -> Response[str]:
    return json_answer(service.accounts.agent(principal, agent_id).model_dump_json())


@operation(
    "PUT",
    "/agents/<agent_id>",
    summary="Describe an agent: itself, or any as an administrator",
    body=AgentDescription,
    returns=Agent,
    errors=(413, 415, 422),
)
def put_agent(
    service: MemoryService, principal: Principal, agent_id: str, body: AgentDescription
) -> Response[str]:
    return json_answer(service.accounts.describe(principal, agent_id, body).model_dump_json())


@operation(
    "DELETE",
    "/agents/<agent_id>",
    summary="Erase an agent and the memories it made, for good",
    returns=Receipt,
    continues=True,
    registers=False,
    limited=False,
    errors=(404, 422),
)
def erase_agent(service: MemoryService, principal: Principal, agent_id: str) -> Response[str]:
    return receipt_answer(service.erasure.erase_agent(principal, agent_id))

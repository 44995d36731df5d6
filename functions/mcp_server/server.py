"""The MCP server: what it lists, and how a call becomes a use of the service.

Built on the SDK's low-level server: the arguments are checked against our own models, strictly, so
that nothing unknown is ignored and no number is read out of a string.
"""

import logging
import re
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import anyio.to_thread
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from mcp_server.errors import explained
from mcp_server.policy import INSTRUCTIONS, MEMORY, POLICY, PROMPT, policy
from mcp_server.tool import Remarked, Tool
from mcp_server.tools import TOOLS
from memories import __version__
from memories.deadline import within
from memories.errors import DomainError, MemoryNotFound
from memories.fields import MAX_ID
from memories.limits import TIME_LIMIT
from memories.principal import READ, Principal
from memories.service import MemoryService
from memories.validation import invalid_input

Context = ServerRequestContext[Any, Any]
Identify = Callable[[Context], Principal]
Run = Callable[..., Awaitable[Any]]

_MEMORY_URI = re.compile(r"memories://memories/([1-9][0-9]{0,18})")
# The lists are the same for everyone, and change with a new version only.
_LISTS = CacheHint(ttl_ms=3_600_000, scope="public")

_UNEXPECTED = "Internal error"

_log = logging.getLogger(__name__)


async def right_here(use: Callable[..., Any], *arguments: Any) -> Any:
    """Call ``use`` on the event loop: for a store that answers sooner than a thread would."""
    return use(*arguments)


def build_server(
    service: MemoryService, identify: Identify, run: Run = anyio.to_thread.run_sync
) -> Server[Any]:
    """Return a server over ``service``; ``identify`` says who makes a request.

    ``run`` calls the service: from a thread, so that the calls to a store far away overlap.
    """
    door = _Door(service, identify, run)
    return Server(
        "memories",
        version=__version__,
        title="memories",
        description="One memory of a person, shared by all of their agents",
        instructions=INSTRUCTIONS,
        cache_hints={
            "tools/list": _LISTS,
            "resources/list": _LISTS,
            "resources/templates/list": _LISTS,
            "prompts/list": _LISTS,
        },
        # No argument is also sent in a header. To find that out, the SDK would walk through the
        # whole schema at every call.
        get_tool_input_schema=lambda _: None,
        on_list_tools=door.list_tools,
        on_call_tool=door.call_tool,
        on_list_resources=door.list_resources,
        on_list_resource_templates=door.list_resource_templates,
        on_read_resource=door.read_resource,
        on_list_prompts=door.list_prompts,
        on_get_prompt=door.get_prompt,
    )


class _Door:
    """The handlers of the requests that a client makes."""

    def __init__(self, service: MemoryService, identify: Identify, run: Run) -> None:
        self._service = service
        self._identify = identify
        self._run = run

    async def list_tools(self, _: Context, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.declaration for tool in TOOLS.values()])

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:64]}")
        try:
            arguments = _arguments(tool, params.arguments or {})
            principal = self._identify(context)
            result = await self._run(self._for, principal, tool.scope, tool.run, arguments)
        except DomainError as error:
            return types.CallToolResult(content=_texts(explained(error)), is_error=True)
        except Exception as error:  # noqa: BLE001  (whatever it is, the model is told something)
            _log_unexpected(error)
            return types.CallToolResult(content=_texts([_UNEXPECTED]), is_error=True)
        told = result if isinstance(result, Remarked) else Remarked(result, [])
        return types.CallToolResult(
            content=_texts([told.result.model_dump_json(), *told.remarks]),
            structured_content=told.result.model_dump(mode="json"),
        )

    def _for(
        self,
        principal: Principal,
        scope: str,
        use: Callable[[MemoryService, Principal, Any], BaseModel],
        argument: object,
    ) -> BaseModel:
        with within(TIME_LIMIT):
            self._service.fair_use.count(principal, writes=scope != READ)
            self._service.accounts.seen(principal)
            return use(self._service, principal, argument)

    async def list_resources(self, _: Context, __: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[POLICY])

    async def list_resource_templates(
        self, _: Context, __: object
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[MEMORY])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        if params.uri == POLICY.uri:
            return _resource(params.uri, "text/markdown", policy())
        named = _MEMORY_URI.fullmatch(params.uri)
        if named is None or (memory_id := int(named[1])) > MAX_ID:
            raise _no_resource(params.uri)
        try:
            principal = self._identify(context)
            memory = await self._run(self._for, principal, READ, _inspect, memory_id)
        except MemoryNotFound:
            raise _no_resource(params.uri) from None
        except DomainError as error:
            raise MCPError(types.INTERNAL_ERROR, explained(error)[0]) from None
        except Exception as error:  # noqa: BLE001  (the SDK would answer with its message)
            _log_unexpected(error)
            raise MCPError(types.INTERNAL_ERROR, _UNEXPECTED) from None
        return _resource(params.uri, "application/json", memory.model_dump_json())

    async def list_prompts(self, _: Context, __: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[PROMPT])

    async def get_prompt(
        self, _: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if params.name != PROMPT.name:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name[:64]}")
        message = types.PromptMessage(
            role="user", content=types.TextContent(type="text", text=INSTRUCTIONS)
        )
        return types.GetPromptResult(description=PROMPT.description, messages=[message])


def _inspect(service: MemoryService, principal: Principal, memory_id: int) -> BaseModel:
    return service.inspect(principal, memory_id)


def _log_unexpected(error: Exception) -> None:
    # Not the message: it may hold what a person stored.
    place = "".join(traceback.format_tb(error.__traceback__))
    _log.error("unexpected %s\n%s", type(error).__qualname__, place)


def _arguments(tool: Tool, sent: dict[str, Any]) -> BaseModel:
    try:
        return tool.arguments.model_validate(sent)
    except ValidationError as error:
        raise invalid_input(error) from None


def _texts(texts: list[str]) -> list[types.ContentBlock]:
    return [types.TextContent(type="text", text=text) for text in texts]


def _resource(uri: str, mime_type: str, text: str) -> types.ReadResourceResult:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.ReadResourceResult(contents=[contents])


def _no_resource(uri: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri[:256]})

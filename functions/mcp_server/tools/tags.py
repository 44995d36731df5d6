"""The tool for tags."""

from mcp_server.tool import Tool
from memories.principal import READ, Principal
from memories.service import MemoryService
from memories.tag_models import TagPage, TagQuery


def _list_tags(service: MemoryService, principal: Principal, arguments: TagQuery) -> TagPage:
    return service.tags.listed(principal, arguments)


TAG_TOOLS = [
    Tool(
        name="list_tags",
        title="List tags",
        description="Return the tags in use, most used first, with how many memories have each; "
        "and the standard ones, to take before you make a new one. Nothing is marked as used.",
        arguments=TagQuery,
        result=TagPage,
        scope=READ,
        run=_list_tags,
        reads_only=True,
    ),
]

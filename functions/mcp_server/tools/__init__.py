"""All the tools, by name, in the order in which they are listed."""

from mcp_server.tools.memories import MEMORY_TOOLS
from mcp_server.tools.relations import RELATION_TOOLS
from mcp_server.tools.tags import TAG_TOOLS

TOOLS = {tool.name: tool for tool in [*MEMORY_TOOLS, *RELATION_TOOLS, *TAG_TOOLS]}

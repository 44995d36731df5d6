"""All the tools, by name, in the order in which they are listed."""

from mcp_server.tools.memories import MEMORY_TOOLS

TOOLS = {tool.name: tool for tool in MEMORY_TOOLS}

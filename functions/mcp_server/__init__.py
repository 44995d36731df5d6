"""The MCP door: tools, resources and a prompt over the memory service."""

"""A shared memory for AI agents: the domain, its service and its stores."""

__version__ = "0.1.0"

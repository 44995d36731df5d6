"""The user's agents over HTTP: clients that are one, and where each is found."""

from collections.abc import Callable
from urllib.parse import quote

from http_client import HttpClient

# Makes a client of an agent, of a user, with scopes.
ClientOf = Callable[..., HttpClient]


def path_of(agent_id: str) -> str:
    """Return where an agent is, as docs/security.md says to write its id."""
    written = quote(agent_id, safe="").replace("~", "~7E").replace("%", "~")
    if agent_id in {".", ".."}:  # these are steps in a path
        written = written.replace(".", "~2E")
    return f"/agents/{written}"

"""Who asks on one machine: its user, through an agent that names itself."""

from collections.abc import Iterable

from memories.errors import Unauthenticated
from memories.principal import MAX_NAME_LENGTH, SCOPES, Principal, principal_of

# What this machine is called by programs on it, in a URL and in the header Host.
NAMES = ("localhost", "127.0.0.1", "[::1]")

USER = "local"
AGENT = "local"
AGENT_HEADER = "x-agent-id"


def decoded(value: bytes) -> str:
    """Return a header's value. Its bytes are UTF-8 where they can be, since names are any text."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def claims_of(agent_id: str) -> dict[str, str]:
    """Return what a verified token would say of this machine's user and the agent."""
    return {"sub": USER, "client_id": agent_id, "scope": " ".join(SCOPES)}


def agent_in(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the agent that the raw headers name. A repeated header is one, as HTTP has it."""
    named = [decoded(value) for name, value in headers if name.lower() == AGENT_HEADER.encode()]
    return ",".join(named) if named else AGENT


def principal_for(agent_id: str) -> Principal:
    """Return the principal. Raises Unauthenticated for a name that is none."""
    try:
        return principal_of(claims_of(agent_id))
    except Unauthenticated:
        raise Unauthenticated(
            f"an agent's name, in X-Agent-Id or --agent, is text of 1 to {MAX_NAME_LENGTH} "
            "characters and not blank"
        ) from None

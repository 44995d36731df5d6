"""Who asks on one machine: its user, through an agent that names itself."""

from memories.principal import SCOPES, Principal, principal_of

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


def principal_for(agent_id: str) -> Principal:
    """Return the principal. Raises Unauthenticated for a name that is none."""
    return principal_of(claims_of(agent_id))

"""Who is asking, and what that allows."""

from collections.abc import Mapping
from dataclasses import dataclass

from memories.errors import MissingScope, Unauthenticated
from memories.text import forbidden_character, is_blank

READ = "memories:read"
WRITE = "memories:write"
ADMIN = "memories:admin"
SCOPES = (READ, WRITE, ADMIN)

MAX_NAME_LENGTH = 256


@dataclass(frozen=True, slots=True)
class Principal:
    """A user who owns memories, and the agent that acts for them in this request."""

    user_id: str
    agent_id: str
    scopes: frozenset[str]

    def require(self, scope: str) -> None:
        """Raise MissingScope unless the principal holds ``scope``."""
        if scope not in self.scopes:
            raise MissingScope(scope)


def principal_of(
    claims: Mapping[str, object],
    user_claim: str = "sub",
    agent_claim: str = "client_id",
    scope_prefix: str = "",
) -> Principal:
    """Return the principal that verified token ``claims`` name.

    Scopes are those of the space-separated ``scope`` claim that begin with ``scope_prefix``,
    without it. Raises Unauthenticated when the user or the agent is not named, for nobody is
    served anonymously.
    """
    return Principal(
        user_id=_name(claims, user_claim),
        agent_id=_name(claims, agent_claim),
        scopes=_scopes(claims.get("scope"), scope_prefix),
    )


def _scopes(claim: object, prefix: str) -> frozenset[str]:
    if not isinstance(claim, str):
        return frozenset()
    # A scope without the prefix is another service's, whatever it is called.
    return frozenset(
        scope.removeprefix(prefix) for scope in claim.split() if scope.startswith(prefix)
    )


def _name(claims: Mapping[str, object], claim: str) -> str:
    name = claims.get(claim)
    if not isinstance(name, str) or is_blank(name):
        raise Unauthenticated(f"the token has no '{claim}' claim")
    if len(name) > MAX_NAME_LENGTH:
        raise Unauthenticated(f"the '{claim}' claim is longer than {MAX_NAME_LENGTH} characters")
    if forbidden := forbidden_character(name):
        raise Unauthenticated(f"the '{claim}' claim holds {forbidden}")
    return name

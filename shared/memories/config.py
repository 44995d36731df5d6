"""Settings, read once from the environment into a frozen object."""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

PREFIX = "MEMORIES_"


class InvalidSetting(Exception):
    """A setting has a value that it cannot have."""


class StoreKind(StrEnum):
    """What keeps the memories."""

    SQLITE = "sqlite"
    DYNAMODB = "dynamodb"


# The least value of numbers that have one.
_LEAST = {
    "connections": 1,
    "log_days": 1,
    "remove_deleted_days": 0,
    "max_memories": 0,
    "decay_days": 0,
    "decay_floor": 0,
    "user_limit": 0,
    "agent_limit": 0,
}


@dataclass(frozen=True)
class Settings:
    """How the service is set up. Each field is the variable of its name, as in MEMORIES_DATA."""

    # The one-machine server.
    host: str = "127.0.0.1"
    port: int = 8000
    store: StoreKind = StoreKind.SQLITE
    # SQLite: the file.
    data: Path = Path("memories.db")
    # DynamoDB: the table, and where it is if it is not AWS that has it.
    table: str = "memories"
    # The table of the idempotency keys, which without a name is called after the other.
    idempotency_table: str = ""
    endpoint_url: str = ""
    # How many clients may be connected at once, to either server.
    connections: int = 2048
    # The web pages that may call the MCP server, by their origins, apart by white space.
    origins: tuple[str, ...] = ()
    # The agent that a host starts over standard input and output.
    agent: str = "local"
    # The command line: the server that it asks, in place of a store, and the token for it.
    url: str = ""
    token: str = dataclasses.field(default="", repr=False)
    # The remote MCP server: the address that clients know it by, without the path, and the names
    # that it may be called by, where they are not that address's alone, apart by white space.
    public_url: str = ""
    allowed_hosts: tuple[str, ...] = ()
    # Whose tokens it takes: the issuer, and where its keys are if it has no openid-configuration.
    issuer: str = ""
    jwks_url: str = ""
    # The accepted audiences, apart by white space; and the accepted clients of an issuer whose
    # tokens have no audience, as Cognito's access tokens do.
    audience: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    # The claims of a verified token that name the user and the agent.
    user_claim: str = "sub"
    agent_claim: str = "client_id"
    # What the issuer puts before each scope, as in "api/memories:read".
    scope_prefix: str = ""
    # The tags that agents are asked to take before they make new ones, apart by white space or
    # commas.
    standard_tags: tuple[str, ...] = field(
        default=(
            *("personal", "work", "family", "health", "food"),
            *("travel", "home", "technical", "project", "schedule"),
        ),
        metadata={"separators": r"[\s,]+"},
    )
    # How long the access log of a memory is kept, in days.
    log_days: int = 90
    # Fair use: the most requests in a minute of a user, and of each agent; reads and writes apart.
    # 0: no limit.
    user_limit: int = 0
    agent_limit: int = 0
    # The policies of the lifecycle, each off at 0. After how many days what was retired is removed
    # for good; how many memories a user may have; after how many days without use importance goes
    # down by one, and the importance below which it does not go.
    remove_deleted_days: int = 0
    max_memories: int = 0
    decay_days: int = 0
    decay_floor: int = 1
    # What a deployed function tells of itself. On one machine it is silent.
    log_level: str = "INFO"
    tracing: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read the settings; a variable that is not set, or is empty, means the default.

        Raises InvalidSetting.
        """
        given: dict[str, Any] = {}
        for each in dataclasses.fields(cls):
            variable = PREFIX + each.name.upper()
            if text := environment.get(variable):
                given[each.name] = _value(variable, text, type(each.default), each.metadata)
        for name, least in _LEAST.items():
            if given.get(name, least) < least:
                variable = PREFIX + name.upper()
                raise InvalidSetting(f"{variable} is {given[name]}; {least} is the least")
        return cls(**given)


def _value(variable: str, text: str, kind: type, metadata: Mapping[str, str]) -> object:
    if kind is tuple:
        return tuple(filter(None, re.split(metadata.get("separators", r"\s+"), text)))
    try:
        if kind is bool:
            return ("false", "true").index(text) == 1
        return kind(text)
    except ValueError:
        if issubclass(kind, StrEnum):
            raise InvalidSetting(f"{variable} is {text!r}; it can be {', '.join(kind)}") from None
        wanted = "true or false" if kind is bool else "a whole number"
        raise InvalidSetting(f"{variable} is {text!r}; it must be {wanted}") from None

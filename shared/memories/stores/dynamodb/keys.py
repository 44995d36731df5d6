"""Keys of the table and sort values of its indexes, built so that they sort as the contract says.

A user's partition is named by the user's id as it is and nothing after it, so two users cannot
meet, whatever characters their ids hold. What follows a fixed prefix in the other keys has a
fixed length, or is a type of relation, which holds letters and underscores alone.
"""

from hashlib import sha256

COUNTER = "COUNTER"
PROFILE = "PROFILE"
AGENT_PREFIX = "AGENT#"
ERASURE = "ERASURE"
MEMORY_PREFIX = "MEM#"
_ORIGIN_PREFIX = "ORIGIN#"
RELATION_PREFIX = "REL#"
MIRROR_PREFIX = "LER#"
SNAPSHOT_PREFIX = "SNAP#"
LOG_PREFIX = "LOG#"
_USER_PREFIX = "USER#"

# Room for every id: 2^63 - 1 has 19 digits.
_ID_LENGTH = 20

# No memory's id is higher.
MAX_ID = 10**_ID_LENGTH - 1

# Sorts before every year.
_NEVER = "-"


def idempotency_table_of(table: str) -> str:
    """Return what the table of the keyed requests is called if it has no name of its own."""
    return f"{table}-idempotency"


def partition(user_id: str) -> str:
    """Return the partition key of all that belongs to the user."""
    return f"{_USER_PREFIX}{user_id}"


def memory(memory_id: int) -> str:
    """Return the sort key of a memory."""
    return f"{MEMORY_PREFIX}{_digits(memory_id)}"


def origin(digest: str) -> str:
    """Return the sort key of what is known of a record that came from elsewhere."""
    return f"{_ORIGIN_PREFIX}{digest}"


def origin_in(key: str) -> str:
    """Return the digest that an origin's sort key ends with."""
    return key.removeprefix(_ORIGIN_PREFIX)


def agent(agent_id: str) -> str:
    """Return the sort key of an agent.

    A digest stands for the id, which can be longer than a sort key may be.
    """
    return f"{AGENT_PREFIX}{_digest(agent_id)}"


def erasure(agent_id: str) -> str:
    """Return the sort key of the erasure of an agent."""
    return f"{ERASURE}#{_digest(agent_id)}"


def relation(from_id: int, relation_type: str, to_id: int) -> str:
    """Return the sort key of a relation."""
    return f"{RELATION_PREFIX}{_digits(from_id)}#{relation_type}#{_digits(to_id)}"


def mirror(from_id: int, relation_type: str, to_id: int) -> str:
    """Return the sort key of a relation's mirror, by which it is found from its other end."""
    return f"{MIRROR_PREFIX}{_digits(to_id)}#{relation_type}#{_digits(from_id)}"


def relations_of(prefix: str, memory_id: int, relation_type: str | None) -> str:
    """Return what the sort keys of a memory's relations, or their mirrors, begin with.

    They sort by type, then by the other id: no letter of a type sorts before what follows it.
    """
    typed = "" if relation_type is None else f"{relation_type}#"
    return f"{prefix}{_digits(memory_id)}#{typed}"


def usage(window: int) -> str:
    """Return the sort key of the requests that are counted in a window."""
    return f"USAGE#{window}"


def usage_of(agent_id: str) -> str:
    """Return the name of the attribute that counts an agent's requests."""
    return f"of_agent_{sha256(agent_id.encode()).hexdigest()[:32]}"


def requests_of(agent_id: str) -> str:
    """Return what the sort keys of an agent's keyed requests begin with.

    A digest, for agents' names have any length and may hold any character.
    """
    return f"REQUEST#{sha256(agent_id.encode()).hexdigest()}#"


def request(agent_id: str, key: str) -> str:
    """Return the sort key of a keyed request; ``key`` is the digest of its key."""
    return f"{requests_of(agent_id)}{key}"


def twin(key: str) -> str:
    """Return the sort key of a relation's mirror, or of a mirror's relation."""
    prefix, one, relation_type, other = key.split("#")
    twins = (RELATION_PREFIX, MIRROR_PREFIX)
    return f"{twins[f'{prefix}#' == RELATION_PREFIX]}{other}#{relation_type}#{one}"


def log(user_id: str, memory_id: int) -> str:
    """Return the partition key of a memory's access log."""
    return f"{LOG_PREFIX}{user_id}#{_digits(memory_id)}"


def owner_in(partition: str) -> str:
    """Return the user whose partition it is."""
    return partition.removeprefix(_USER_PREFIX)


def moment(at: str | None, memory_id: int) -> str:
    """Return the sort value by a time, then by id. None is before every time."""
    return f"{at or _NEVER}#{_digits(memory_id)}"


def id_in(key: str) -> int:
    """Return the id that a memory's sort key or sort value ends with."""
    return int(key[-_ID_LENGTH:])


def _digest(agent_id: str) -> str:
    return sha256(agent_id.encode()).hexdigest()


def _digits(memory_id: int) -> str:
    return f"{memory_id:0{_ID_LENGTH}}"

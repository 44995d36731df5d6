"""An agent's id as a segment of a path.

An id is any text, and a gateway does not hand on a path as it was sent: it decodes it, whereby a
``%2F`` becomes one slash more, and what follows a ``%3F`` is lost. So in a path an id is written
with ``~`` and two hexadecimal digits for each byte of a character that a path cannot carry. What is
percent-encoded besides arrives decoded, and means itself.
"""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

from memories.fields import AgentId

# A percent sign can only be left over: one that is part of the id was to be written as ~25.
_WRITTEN = re.compile(rb"(?:[^~%?]|~[0-9A-Fa-f]{2})*", re.DOTALL)
_ESCAPE = re.compile(rb"~(..)")


def _read(segment: str) -> str:
    written = segment.encode()
    if not _WRITTEN.fullmatch(written):
        raise ValueError
    return _ESCAPE.sub(lambda escape: bytes.fromhex(escape[1].decode()), written).decode()


AgentSegment = Annotated[
    AgentId,
    Field(
        description="The agent's id, with each byte of `/`, `?`, `%` and `~` in it as `~` and two "
        "hexadecimal digits: `~2F`, `~3F`, `~25`, `~7E`; and `.` and `..` as `~2E` and `~2E~2E`. "
        "Any other character may be written so too.",
        json_schema_extra={"pattern": r"^([^~%?/\x00-\x1f]|~(2F|3F|25|7E|2E))+$"},
    ),
    BeforeValidator(_read),
]

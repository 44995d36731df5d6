"""What a store keeps of a request that has a key, so that its repeat is known as one.

Neither the key itself nor anything of the memories is kept: a repeat sends the same, so the first
answer is made from it anew.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A create that its user and agent may repeat. Times are whole seconds of the Unix time."""

    # Digests of the key, and of all that the request asks for.
    key: str
    fingerprint: str
    at: int
    # From when on the key is as good as new.
    expires_at: int


@dataclass(frozen=True, slots=True)
class FirstRequest:
    """What is kept of the first request with a key: what it asked for, and what it was given."""

    fingerprint: str
    first_id: int
    created_at: str


class AlreadyDone(Exception):
    """The key of a create is that of an earlier request, so nothing was stored."""

    def __init__(self, first: FirstRequest) -> None:
        self.first = first
        super().__init__("a request with this key was done before")

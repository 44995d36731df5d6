"""Fair use: how many requests a user, and each of their agents, may make in a minute.

Writes are counted by the store, for all processes together. Reads are counted by each process for
itself: a call to the store would cost as much as many a read.
"""

import math

from memories.clock import Clock
from memories.errors import TooManyRequests
from memories.principal import Principal
from memories.stores.port_usage import Limits, Usage
from memories.stores.process_usage import ProcessUsage

WINDOW = 60
"""How long requests are counted before the count begins anew, in seconds."""

UNLIMITED = Limits()


class FairUse:
    """Lets requests through until a limit is reached. Reads and writes are counted apart."""

    def __init__(self, writes: Usage, clock: Clock, limits: Limits) -> None:
        self._writes = writes
        self._reads = ProcessUsage()
        self._clock = clock
        self._limits = limits

    def count(self, principal: Principal, writes: bool) -> None:
        """Count a request. Both doors say so of each. Raises TooManyRequests."""
        if self._limits == UNLIMITED:
            return
        now = self._clock().timestamp()
        window = math.floor(now / WINDOW) * WINDOW
        usage = self._writes if writes else self._reads
        party = usage.count(principal.user_id, principal.agent_id, window, self._limits)
        if party:
            limit = self._limits.user if party == "user" else self._limits.agent
            raise TooManyRequests(party, limit, WINDOW, math.ceil(window + WINDOW - now))

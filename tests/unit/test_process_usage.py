"""Counts in memory, which have an end."""

from memories.stores.port_usage import Limits
from memories.stores.process_usage import ProcessUsage


def test_of_too_many_agents_the_counts_begin_anew() -> None:
    usage = ProcessUsage()
    for number in range(30_000):
        assert usage.count("user", f"agent {number}", 60, Limits(agent=1)) is None
    assert usage.count("user", "agent 29999", 60, Limits(agent=1)) == "agent"
    assert usage.count("user", "agent 0", 60, Limits(agent=1)) is None


def test_a_clock_that_steps_back_begins_a_count_anew() -> None:
    usage = ProcessUsage()
    assert usage.count("user", "agent", 120, Limits(user=1)) is None
    assert usage.count("user", "agent", 120, Limits(user=1)) == "user"
    assert usage.count("user", "agent", 60, Limits(user=1)) is None

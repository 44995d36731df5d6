"""Settings from the environment, and the principal that they make of a token."""

import pytest

from memories.config import InvalidSetting, Settings
from memories.principal import READ, WRITE, principal_of

CLAIMS = {"sub": "user", "client_id": "agent"}


def test_a_switch_is_true_or_false_and_nothing_else() -> None:
    assert Settings.from_environment({}).tracing is False
    assert Settings.from_environment({"MEMORIES_TRACING": "true"}).tracing is True
    assert Settings.from_environment({"MEMORIES_TRACING": "false"}).tracing is False
    with pytest.raises(InvalidSetting, match="MEMORIES_TRACING is 'yes'"):
        Settings.from_environment({"MEMORIES_TRACING": "yes"})


@pytest.mark.parametrize("variable", ["MEMORIES_USER_LIMIT", "MEMORIES_AGENT_LIMIT"])
def test_a_limit_is_0_or_more(variable: str) -> None:
    with pytest.raises(InvalidSetting, match=variable):
        Settings.from_environment({variable: "-1"})


def test_scopes_lose_the_prefix_that_their_issuer_puts_before_them() -> None:
    claims = CLAIMS | {"scope": f"api/{READ} api/{WRITE}"}
    assert principal_of(claims, scope_prefix="api/").scopes == {READ, WRITE}


@pytest.mark.parametrize("scope", [READ, f"other/{READ}", f"api/api/{READ}", "api/", ""])
def test_a_scope_of_another_service_is_none_of_ours(scope: str) -> None:
    principal = principal_of(CLAIMS | {"scope": scope}, scope_prefix="api/")
    assert principal.scopes.isdisjoint({READ, WRITE})

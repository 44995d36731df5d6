"""Tokens at a deployed API: only a good one of the right issuer gets past the gateway."""

import base64
import json
import time
from collections.abc import Callable

import pytest

from e2e.deployment import Stack
from issuer import Issuer, new_key, signed, unsigned

pytestmark = pytest.mark.e2e


def _with_claim(name: str, value: object) -> Callable[[Issuer], str]:
    return lambda issuer: issuer.token("user", "agent", changed={name: value})


def _changed_after_signing(issuer: Issuer) -> str:
    header, claims, signature = issuer.token("user", "agent").split(".")
    content = json.loads(base64.urlsafe_b64decode(claims + "=="))
    content["sub"] = "another user"
    changed = base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()
    return f"{header}.{changed}.{signature}"


BAD_TOKENS: dict[str, Callable[[Issuer], str]] = {
    "none at all": lambda issuer: "",
    "not a token": lambda issuer: "memories",
    "expired": _with_claim("exp", int(time.time()) - 3600),
    "not yet valid": _with_claim("nbf", int(time.time()) + 3600),
    "another audience": _with_claim("aud", "another-service"),
    "no audience": _with_claim("aud", []),
    "another issuer": _with_claim("iss", "https://issuer.example"),
    "another key": lambda issuer: signed(new_key(), issuer.claims("user", "agent")),
    "no signature": lambda issuer: unsigned(issuer.claims("user", "agent")),
    "changed after signing": _changed_after_signing,
}


@pytest.mark.parametrize("bad", BAD_TOKENS.values(), ids=BAD_TOKENS.keys())
@pytest.mark.parametrize(("method", "target"), [("GET", "/memories"), ("POST", "/memories")])
def test_a_bad_token_is_refused(
    stack: Stack, issuer: Issuer, bad: Callable[[Issuer], str], method: str, target: str
) -> None:
    refused = stack.caller(bad(issuer)).send(method, target)
    assert refused.status == 401
    assert "items" not in refused.text


def test_a_token_that_names_no_agent_is_refused_by_the_function(
    stack: Stack, issuer: Issuer
) -> None:
    refused = stack.caller(issuer.token("user", "")).send("GET", "/memories")
    assert refused.status == 401
    assert refused.body == {"detail": "Not authenticated: the token has no 'client_id' claim"}


def test_what_a_client_sends_beside_its_token_changes_nobody(
    stack: Stack, issuer: Issuer, user: str
) -> None:
    caller = stack.caller(issuer.token(user, "agent-1"))
    other = stack.caller(issuer.token(f"not the {user}", "agent-1"))
    draft = {"content": "Mine", "tags": ["test"]}
    assert caller.send("POST", "/memories", draft).status == 201
    pretending = {"x_agent_id": "agent-1", "x_user_id": user, "sub": user}
    assert other.send("GET", "/memories", None, **pretending).body["total"] == 0
    assert other.send("POST", "/memories", draft | {"user_id": user}).status == 422

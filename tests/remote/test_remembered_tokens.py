"""What is remembered of a token, and for how long."""

import pytest
from anyio.from_thread import BlockingPortal

from issuer import Issuer, signed
from mcp_server.keys import FRESH, IssuerKeys
from mcp_server.tokens import EARLY, REMEMBERED, TokenVerifier
from memories.errors import Unauthenticated
from memories.principal import READ, Principal
from remote.server import Seconds, settings_for


class Verifier:
    """A verifier whose clock the test moves."""

    def __init__(self, issuer: Issuer, portal: BlockingPortal, size: int) -> None:
        self.clock = Seconds()
        keys = IssuerKeys(issuer.url, clock=self.clock)
        self.verifier = TokenVerifier(settings_for(issuer), keys, self.clock, size)
        self.portal = portal

    def takes(self, token: str) -> bool:
        try:
            self.verify(token)
        except Unauthenticated:
            return False
        return True

    def verify(self, token: str) -> Principal:
        return self.portal.call(self.verifier.verify, token)


@pytest.fixture
def verifier(own_issuer: Issuer, portal: BlockingPortal) -> Verifier:
    return Verifier(own_issuer, portal, size=10)


def test_the_principal_is_whom_the_claims_name(verifier: Verifier, own_issuer: Issuer) -> None:
    token = own_issuer.token("ann", "agent", f"{READ} other")

    for _ in range(2):
        assert verifier.verify(token) == Principal("ann", "agent", frozenset({READ, "other"}))


def test_a_token_is_remembered_only_until_it_expires(
    verifier: Verifier, own_issuer: Issuer
) -> None:
    token = own_issuer.token("ann", "agent", changed={"exp": verifier.clock.now + 60})
    assert verifier.takes(token)

    verifier.clock.now += 59.9
    assert verifier.takes(token)
    verifier.clock.now += 0.1
    assert not verifier.takes(token)


def test_a_token_of_a_withdrawn_key_is_not_remembered_for_long(
    verifier: Verifier, own_issuer: Issuer
) -> None:
    token = own_issuer.token("ann", "agent", changed={"exp": verifier.clock.now + 10 * FRESH})
    assert verifier.takes(token)
    own_issuer.rotate("next")

    verifier.clock.now += FRESH
    assert FRESH >= REMEMBERED
    assert not verifier.takes(token)


def test_the_issuers_clock_may_be_a_little_ahead(verifier: Verifier, own_issuer: Issuer) -> None:
    begins = verifier.clock.now + EARLY
    assert verifier.takes(own_issuer.token("ann", "agent", changed={"nbf": begins}))

    early = own_issuer.token("ann", "agent", changed={"nbf": begins + 1})
    assert not verifier.takes(early)
    verifier.clock.now += 1
    assert verifier.takes(early)


def test_a_bounded_number_of_tokens_is_remembered(verifier: Verifier, own_issuer: Issuer) -> None:
    tokens = [own_issuer.token(f"user {number}", "agent") for number in range(25)]
    for number, token in enumerate(tokens):
        assert verifier.verify(token).user_id == f"user {number}"
    assert verifier.verifier.remembered == 10

    assert [verifier.verify(token).user_id for token in reversed(tokens)] == [
        f"user {number}" for number in reversed(range(25))
    ]
    assert verifier.verifier.remembered == 10


def test_a_refused_token_is_not_remembered(verifier: Verifier, own_issuer: Issuer) -> None:
    claims = own_issuer.claims("ann", "agent")
    assert not verifier.takes(signed(own_issuer.key, claims | {"aud": "another"}))
    assert not verifier.takes(signed(own_issuer.key, claims | {"exp": 1}))
    assert not verifier.takes(signed(own_issuer.key, claims | {"sub": ""}))

    assert verifier.verifier.remembered == 0

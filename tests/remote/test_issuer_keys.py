"""The issuer's keys: when they are fetched, kept, and missed."""

import anyio
import httpx
import pytest
from anyio.from_thread import BlockingPortal

from issuer import KEY_ID, Issuer, published
from mcp_server.keys import (
    FRESH,
    MAX_DOCUMENT,
    MAX_KEYS,
    PAUSE,
    USABLE,
    IssuerKeys,
    KeysUnavailable,
)
from memories.service import MemoryService
from remote.server import Seconds, remote_over


class Keys:
    """The keys of an issuer, looked for by a clock that the test moves."""

    def __init__(self, issuer: Issuer, portal: BlockingPortal, jwks_url: str = "") -> None:
        self.clock = Seconds()
        self.keys = IssuerKeys(issuer.url, jwks_url, self.clock)
        self.portal = portal

    def has(self, key_id: str) -> bool:
        return self.portal.call(self.keys.find, key_id) is not None


@pytest.fixture
def keys(own_issuer: Issuer, portal: BlockingPortal) -> Keys:
    return Keys(own_issuer, portal)


def test_keys_are_fetched_when_first_needed_and_then_kept(keys: Keys, own_issuer: Issuer) -> None:
    assert own_issuer.requests == []

    for _ in range(3):
        assert keys.has(KEY_ID)
    assert own_issuer.requests == ["/.well-known/openid-configuration", "/keys"]


def test_the_address_of_the_keys_can_be_set(own_issuer: Issuer, portal: BlockingPortal) -> None:
    assert Keys(own_issuer, portal, f"{own_issuer.url}/keys").has(KEY_ID)
    assert own_issuer.requests == ["/keys"]


def test_a_slash_at_the_end_of_the_issuer_is_its_own(
    own_issuer: Issuer, portal: BlockingPortal
) -> None:
    own_issuer.documents["/.well-known/openid-configuration"] = {
        "issuer": f"{own_issuer.url}/",
        "jwks_uri": f"{own_issuer.url}/keys",
    }
    own_issuer.url += "/"

    assert Keys(own_issuer, portal).has(KEY_ID)


def test_a_new_key_is_found_and_the_old_one_is_gone(keys: Keys, own_issuer: Issuer) -> None:
    assert keys.has(KEY_ID)
    own_issuer.rotate("next")
    keys.clock.now += PAUSE

    assert keys.has("next")
    assert not keys.has(KEY_ID)


def test_a_withdrawn_key_is_gone_once_the_keys_are_old(keys: Keys, own_issuer: Issuer) -> None:
    assert keys.has(KEY_ID)
    own_issuer.rotate("next")
    keys.clock.now += FRESH

    assert not keys.has(KEY_ID)


def test_made_up_key_ids_are_no_storm_of_requests(keys: Keys, own_issuer: Issuer) -> None:
    for number in range(100):
        assert not keys.has(f"made-up {number}")
        keys.clock.now += PAUSE / 20

    assert len(own_issuer.requests) <= 2 * (1 + 100 / 20)


def test_many_who_ask_at_once_are_one_request(keys: Keys, own_issuer: Issuer) -> None:
    async def ask() -> None:
        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(keys.keys.find, KEY_ID if number % 2 else f"made-up {number}")

    keys.portal.call(ask)
    assert own_issuer.requests == ["/.well-known/openid-configuration", "/keys"]


def test_a_short_outage_of_the_issuer_is_not_noticed(keys: Keys, own_issuer: Issuer) -> None:
    assert keys.has(KEY_ID)
    own_issuer.answering = False

    keys.clock.now += USABLE - 1
    assert keys.has(KEY_ID)
    with pytest.raises(KeysUnavailable):
        keys.has("perhaps a new one")

    keys.clock.now += 1
    with pytest.raises(KeysUnavailable):
        keys.has(KEY_ID)


def test_an_issuer_that_does_not_answer_is_left_alone_for_a_while(
    keys: Keys, own_issuer: Issuer
) -> None:
    own_issuer.answering = False
    for _ in range(20):
        with pytest.raises(KeysUnavailable):
            keys.has(KEY_ID)
    assert len(own_issuer.requests) == 1

    own_issuer.answering = True
    keys.clock.now += PAUSE
    assert keys.has(KEY_ID)


def bad(**changed: object) -> dict[str, object]:
    return {"kty": "RSA", "use": "sig", "kid": "bad", "n": "AQAB", "e": "AQAB"} | changed


USELESS: dict[str, object] = {
    "a secret": {"kty": "oct", "kid": "bad", "k": "c2VjcmV0"},
    "a secret said to be for RS256": {"kty": "oct", "kid": "bad", "k": "c2VjcmV0", "alg": "RS256"},
    "for encryption": bad(use="enc"),
    "for HS256": bad(alg="HS256"),
    "for no algorithm": bad(alg=["RS256"]),
    "of an unknown kind": bad(kty="new"),
    "without numbers": {"kty": "RSA", "kid": "bad"},
    "without a name": {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
    "named by a number": bad(kid=7),
    "no object": 7,
}


@pytest.mark.parametrize("key", USELESS.values(), ids=list(USELESS))
def test_a_key_that_is_of_no_use_is_passed_over(
    keys: Keys, own_issuer: Issuer, key: object
) -> None:
    own_issuer.documents["/keys"] = {"keys": [key, published("good", own_issuer.key)]}

    assert keys.has("good")
    assert not keys.has("bad")


DOCUMENTS: dict[str, object] = {
    "no object": [],
    "no keys": {},
    "keys no list": {"keys": {}},
    "an empty list": {"keys": []},
    "useless keys alone": {"keys": [*USELESS.values()]},
    "too many keys": {"keys": [bad(kid=f"{number}") for number in range(MAX_KEYS + 1)]},
    "too long": {"keys": [], "more": "x" * MAX_DOCUMENT},
}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=list(DOCUMENTS))
def test_an_answer_without_keys_is_an_outage(
    keys: Keys, own_issuer: Issuer, document: object
) -> None:
    own_issuer.documents["/keys"] = document

    with pytest.raises(KeysUnavailable):
        keys.has(KEY_ID)


@pytest.mark.parametrize(
    "configuration",
    [
        {"issuer": "https://issuer.example"},
        {"issuer": None},
        {},
        {"jwks_uri": "http://issuer.example/keys"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "no address"},
        {"jwks_uri": "https://[/keys"},
        {"jwks_uri": None},
    ],
)
def test_a_configuration_that_leads_elsewhere_is_not_followed(
    keys: Keys, own_issuer: Issuer, configuration: dict[str, object]
) -> None:
    path = "/.well-known/openid-configuration"
    good = {"issuer": own_issuer.url, "jwks_uri": f"{own_issuer.url}/keys"}
    own_issuer.documents[path] = good | configuration if configuration else {}

    with pytest.raises(KeysUnavailable):
        keys.has(KEY_ID)
    assert own_issuer.requests == [path]


def test_callers_are_told_to_come_back_while_there_are_no_keys(
    service: MemoryService, own_issuer: Issuer
) -> None:
    token = own_issuer.token("ann", "agent")
    own_issuer.answering = False
    with remote_over(service, own_issuer) as remote:
        answer = remote.post("tools/list", token=token)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "5"
        assert "www-authenticate" not in answer.headers
        assert answer.json() == {"detail": "Tokens cannot be verified now; try again in 5 s"}
        # Nothing needs to be known to refuse these.
        assert remote.post("tools/list").status_code == 401
        assert remote.post("tools/list", token="no.token.").status_code == 401
        assert httpx.get(f"{remote.url}/health").status_code == 200

        own_issuer.answering = True
        remote.clock.now += PAUSE
        assert remote.post("tools/list", token=token).status_code == 200


def test_tokens_of_a_new_key_are_taken(service: MemoryService, own_issuer: Issuer) -> None:
    with remote_over(service, own_issuer) as remote:
        old = own_issuer.token("ann", "agent")
        assert remote.post("tools/list", token=old).status_code == 200
        own_issuer.rotate("next")
        new = own_issuer.token("ann", "agent")
        assert remote.post("tools/list", token=new).status_code == 401

        remote.clock.now += PAUSE
        assert remote.post("tools/list", token=new).status_code == 200

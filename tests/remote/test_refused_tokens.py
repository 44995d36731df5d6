"""A request that does not prove who makes it: 401, which says where to get a token."""

import hashlib
import hmac
import logging
from collections.abc import Callable

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from issuer import AUDIENCE, KEY_ID, Issuer, content_of, encoded, new_key, signed, unsigned
from memories.service import MemoryService
from remote.server import METADATA_URL, Remote, remote_over

SCOPES = 'scope="memories:read memories:write"'


def hmac_with_the_public_key(issuer: Issuer) -> str:
    """Return a token for a verifier that lets the token say what kind of key the key is."""
    public = issuer.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    header = {"alg": "HS256", "typ": "JWT", "kid": KEY_ID}
    content = content_of(header, issuer.claims("ann", "agent"))
    return f"{content}.{encoded(hmac.digest(public, content.encode(), hashlib.sha256))}"


def with_header(issuer: Issuer, **header: object) -> str:
    content = content_of({"alg": "RS256", "kid": KEY_ID} | header, issuer.claims("ann", "agent"))
    return f"{content}.{encoded(b'signature')}"


def without(claim: str) -> Callable[[Issuer], str]:
    def token(issuer: Issuer) -> str:
        claims = issuer.claims("ann", "agent")
        del claims[claim]
        return signed(issuer.key, claims)

    return token


def changed(**claims: object) -> Callable[[Issuer], str]:
    return lambda issuer: issuer.token("ann", "agent", changed=claims)


CAUSES: dict[str, tuple[Callable[[Issuer], str], str]] = {
    "not a token": (lambda issuer: "secret", "malformed"),
    "two parts": (lambda issuer: "secret.secret", "malformed"),
    "no JSON": (lambda issuer: "c2VjcmV0.c2VjcmV0.c2VjcmV0", "malformed"),
    "too long": (lambda issuer: "secret" * 4000, "too long"),
    "expired": (changed(exp=1_700_000_000), "expired"),
    "expiry far in the past": (changed(exp=-1), "expired"),
    "no expiry": (without("exp"), "when it expires"),
    "expiry no number": (changed(exp="tomorrow"), "'exp' claim"),
    "expiry not a time": (changed(exp=float("nan")), "'exp' claim"),
    "expiry true": (changed(exp=True), "'exp' claim"),
    "not valid yet": (changed(nbf=4_000_000_000), "not valid yet"),
    "another audience": (changed(aud="another"), "another service"),
    "other audiences": (changed(aud=["another", AUDIENCE.upper()]), "another service"),
    "no audience": (without("aud"), "another service"),
    "audience no text": (changed(aud={"aud": AUDIENCE}), "another service"),
    "another issuer": (changed(iss="https://issuer.example"), "another issuer"),
    "no issuer": (without("iss"), "another issuer"),
    "another key": (
        lambda issuer: signed(new_key(), issuer.claims("ann", "agent")),
        "signature is wrong",
    ),
    "changed claims": (
        lambda issuer: ".".join(
            [
                issuer.token("ann", "agent").split(".")[0],
                issuer.token("bob", "agent").split(".")[1],
                issuer.token("ann", "agent").split(".")[2],
            ]
        ),
        "signature is wrong",
    ),
    "unknown key id": (
        lambda issuer: signed(issuer.key, issuer.claims("ann", "agent"), "made-up"),
        "key that the issuer has not",
    ),
    "no key id": (lambda issuer: with_header(issuer, kid=None), "malformed"),
    "key id no text": (lambda issuer: with_header(issuer, kid=7), "malformed"),
    "no signature": (lambda issuer: unsigned(issuer.claims("ann", "agent")), "algorithm"),
    "HS256 with the public key": (hmac_with_the_public_key, "algorithm"),
    "algorithm no text": (lambda issuer: with_header(issuer, alg=["RS256"]), "algorithm"),
    "another algorithm of the key": (lambda issuer: with_header(issuer, alg="PS256"), "malformed"),
    "unknown critical header": (lambda issuer: with_header(issuer, crit=["x"]), "malformed"),
    "no user": (without("sub"), "'sub' claim"),
    "blank user": (changed(sub=" "), "'sub' claim"),
    "user no text": (changed(sub=7), "'sub' claim"),
    "no agent": (without("client_id"), "'client_id' claim"),
    "agent too long": (changed(client_id="a" * 300), "'client_id' claim"),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_a_token_that_proves_nothing_is_refused_and_said_why(
    remote: Remote, issuer: Issuer, cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    make, why = CAUSES[cause]
    token = make(issuer)

    with caplog.at_level(logging.DEBUG):
        answer = remote.post("tools/list", token=token)

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == (
        f'Bearer error="invalid_token", {SCOPES}, resource_metadata="{METADATA_URL}"'
    )
    assert answer.json().keys() == {"detail"}
    assert why in answer.json()["detail"]
    assert token[:200] not in answer.text + caplog.text


def test_without_a_token_nothing_is_said_to_be_wrong_with_it(remote: Remote) -> None:
    answer = remote.post("tools/list")

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == (
        f'Bearer {SCOPES}, resource_metadata="{METADATA_URL}"'
    )
    assert answer.json() == {"detail": "Not authenticated: send a bearer token"}


@pytest.mark.parametrize("header", ["", "Bearer", "Basic YTpi", "Digest x"])
def test_another_kind_of_authorization_is_refused(remote: Remote, header: str) -> None:
    answer = remote.post("tools/list", authorization=header)

    assert answer.status_code == 401
    assert "Authorization: Bearer <token>" in answer.json()["detail"]


def test_the_kind_is_read_without_regard_to_case(remote: Remote, token: str) -> None:
    assert remote.post("tools/list", authorization=f"bearer  {token}").status_code == 200


def test_a_token_in_the_address_is_none(remote: Remote, token: str) -> None:
    assert httpx.post(f"{remote.url}/mcp?access_token={token}", json={}).status_code == 401


def test_one_of_several_audiences_is_enough(remote: Remote, issuer: Issuer) -> None:
    token = issuer.token("ann", "agent", changed={"aud": ["another", AUDIENCE]})

    assert remote.post("tools/list", token=token).status_code == 200


def test_a_token_without_an_audience_is_taken_only_of_clients_that_are_named(
    service: MemoryService, issuer: Issuer
) -> None:
    def status(client: str, **audience: str) -> int:
        claims = issuer.claims("ann", client)
        del claims["aud"]
        return remote.post("tools/list", token=signed(issuer.key, claims | audience)).status_code

    with remote_over(service, issuer, audience=(), clients=("app", "agents")) as remote:
        assert status("app") == status("agents") == 200
        assert status("other") == 401
        # What Cognito makes for the app itself to read, not for a service.
        assert status("app", aud="app") == 401


def test_the_claims_that_name_user_and_agent_and_the_scopes_prefix_are_settings(
    service: MemoryService, issuer: Issuer
) -> None:
    claims = issuer.claims("", "", scope="api/memories:write")
    claims |= {"email": "ann@memories.example", "azp": "agent"}
    token = signed(issuer.key, claims)

    with remote_over(
        service, issuer, user_claim="email", agent_claim="azp", scope_prefix="api/"
    ) as remote:
        assert remote.call("record_memory", token, content="A", tags=["a"]).status_code == 200
        answer = remote.call("search_memories", token)

    assert answer.status_code == 403
    assert 'scope="api/memories:read"' in answer.headers["www-authenticate"]

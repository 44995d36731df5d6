"""Bearer tokens: from a JWT to the principal that it names, once it is verified."""

import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jwt
from jwt.exceptions import PyJWTError

from mcp_server.keys import ALGORITHMS, IssuerKeys
from memories.config import Settings
from memories.errors import Unauthenticated
from memories.principal import Principal, principal_of

MAX_TOKEN = 16 * 1024
"""The longest token that is looked at, in characters."""

MAX_VERIFIED = 4096
"""How many verified tokens are remembered."""

# How long one is remembered, in seconds, so that a key which the issuer withdraws is soon obeyed.
REMEMBERED = 300.0
# A token may be used this early, in seconds: the issuer's clock may be ahead of this one.
EARLY = 5.0

# Signature and form alone: what the claims must say is checked here, by the given clock.
_OPTIONS: Any = {
    "enforce_minimum_key_length": True,
    "require": [],
    "verify_signature": True,
    **dict.fromkeys(
        [f"verify_{claim}" for claim in ("aud", "exp", "iat", "iss", "jti", "nbf", "sub")], False
    ),
}


@dataclass(frozen=True, slots=True)
class _Verified:
    principal: Principal
    until: float


class TokenVerifier:
    """Verifies the tokens of one issuer."""

    def __init__(
        self,
        settings: Settings,
        keys: IssuerKeys,
        clock: Callable[[], float] = time.time,
        size: int = MAX_VERIFIED,
    ) -> None:
        """``clock`` gives the seconds since 1970; ``size`` tokens are remembered at most."""
        self._settings = settings
        self._keys = keys
        self._clock = clock
        self._size = size
        self._verified: OrderedDict[bytes, _Verified] = OrderedDict()

    @property
    def remembered(self) -> int:
        """How many verified tokens are remembered now."""
        return len(self._verified)

    async def verify(self, token: str) -> Principal:
        """Return the principal. Raises Unauthenticated, KeysUnavailable."""
        digest = hashlib.sha256(token.encode()).digest()
        known = self._verified.get(digest)
        if known and self._clock() < known.until:
            self._verified.move_to_end(digest)
            return known.principal
        claims = await self._claims(token)
        expires = self._expiry(claims)
        self._check_origin(claims)
        settings = self._settings
        principal = principal_of(
            claims, settings.user_claim, settings.agent_claim, settings.scope_prefix
        )
        until = min(expires, self._clock() + REMEMBERED)
        self._verified[digest] = _Verified(principal, until)
        self._verified.move_to_end(digest)
        if len(self._verified) > self._size:
            self._verified.popitem(last=False)
        return principal

    async def _claims(self, token: str) -> Mapping[str, Any]:
        if len(token) > MAX_TOKEN:
            raise Unauthenticated("the token is too long")
        try:
            header = jwt.get_unverified_header(token)
            algorithm, key_id = header.get("alg"), header.get("kid")
            if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
                raise Unauthenticated("the token is not signed with an accepted algorithm")
            if not isinstance(key_id, str):
                raise Unauthenticated("the token does not name its key")
            key = await self._keys.find(key_id)
            if key is None:
                raise Unauthenticated("the token is signed with a key that the issuer has not")
            claims: Mapping[str, Any] = jwt.decode(
                token, key, algorithms=[algorithm], options=_OPTIONS
            )
        except PyJWTError:
            # What the library says of it may quote the token.
            raise Unauthenticated("the token is malformed or its signature is wrong") from None
        return claims

    def _expiry(self, claims: Mapping[str, Any]) -> float:
        now = self._clock()
        expires, begins = _time(claims, "exp"), _time(claims, "nbf")
        if expires is None:
            raise Unauthenticated("the token does not say when it expires")
        if now >= expires:
            raise Unauthenticated("the token has expired")
        if begins is not None and now < begins - EARLY:
            raise Unauthenticated("the token is not valid yet")
        return expires

    def _check_origin(self, claims: Mapping[str, Any]) -> None:
        if claims.get("iss") != self._settings.issuer:
            raise Unauthenticated("the token is of another issuer")
        if "aud" in claims:
            named, accepted = claims["aud"], self._settings.audience
        else:
            named, accepted = claims.get("client_id"), self._settings.clients
        if not any(name in accepted for name in (named if isinstance(named, list) else [named])):
            raise Unauthenticated("the token is for another service")


def _time(claims: Mapping[str, Any], claim: str) -> float | None:
    value = claims.get(claim)
    if value is None:
        return None
    # Python reads NaN out of JSON too, and nothing is later than that.
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise Unauthenticated(f"the '{claim}' claim is no time")

"""The issuer's public keys: fetched when first needed, kept, and looked for again in moderation."""

import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import httpx2
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from memories.addresses import is_private

ALGORITHMS = frozenset(
    f"{family}{bits}" for family in ("RS", "PS", "ES") for bits in (256, 384, 512)
) | {"EdDSA"}
"""What a token may be signed with: what takes a private key that only the issuer has."""

# In seconds. Keys are looked at again when they are old, and used a while longer when the issuer
# cannot be reached, so that its short outages are not ours.
FRESH = 600.0
USABLE = 3600.0
# Between two looks, whatever they found: made-up key ids must not become a storm of requests.
PAUSE = 5.0
# For one look, which is up to two requests.
TIMEOUT = 5.0

MAX_DOCUMENT = 256 * 1024
MAX_KEYS = 64

_log = logging.getLogger(__name__)


class KeysUnavailable(Exception):
    """The issuer's keys cannot be had now; ``retry_after`` is in seconds."""

    retry_after = int(PAUSE)


class _Unusable(Exception):
    """The issuer's answer is not what it should be."""


class IssuerKeys:
    """The keys of one issuer, by their ids."""

    def __init__(
        self, issuer: str, jwks_url: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Without ``jwks_url``, the issuer's openid-configuration says where the keys are."""
        self._issuer = issuer
        self._jwks_url = jwks_url
        self._clock = clock
        self._lock = anyio.Lock()
        self._keys: Mapping[str, PyJWK] = {}
        self._fetched = self._tried = float("-inf")

    async def find(self, key_id: str) -> PyJWK | None:
        """Return the key, or None if the issuer has no such key. Raises KeysUnavailable."""
        key = self._keys.get(key_id)
        # While one request looks for new keys, the others go on with the old.
        if key and self._age() < (USABLE if self._lock.locked() else FRESH):
            return key
        async with self._lock:
            # Others may have waited for the lock too, and the first of them has fetched.
            wanted = key_id not in self._keys or self._age() >= FRESH
            if wanted and self._clock() - self._tried >= PAUSE:
                await self._fetch()
        if self._age() < USABLE and (key := self._keys.get(key_id)):
            return key
        if self._fetched < self._tried:
            raise KeysUnavailable
        return None

    def _age(self) -> float:
        return self._clock() - self._fetched

    async def _fetch(self) -> None:
        keys = None
        try:
            with anyio.fail_after(TIMEOUT):
                keys = await self._look()
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, _Unusable) as error:
            _log.error("no keys from the issuer: %s: %s", type(error).__name__, error)
        finally:
            self._tried = self._clock()
        if keys:
            self._keys, self._fetched = keys, self._tried

    async def _look(self) -> Mapping[str, PyJWK]:
        async with httpx2.AsyncClient(timeout=TIMEOUT) as client:
            url = self._jwks_url or await self._advertised(client)
            if not is_private(url):
                raise _Unusable("its keys are not at an https address")
            return _usable((await _document(client, url)).get("keys"))

    async def _advertised(self, client: httpx2.AsyncClient) -> str:
        url = self._issuer.rstrip("/") + "/.well-known/openid-configuration"
        configuration = await _document(client, url)
        if configuration.get("issuer") != self._issuer:
            raise _Unusable("its openid-configuration is another issuer's")
        return str(configuration.get("jwks_uri"))


async def _document(client: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    content = bytearray()
    async with client.stream("GET", url, headers={"Accept": "application/json"}) as answer:
        if answer.status_code != 200:
            raise _Unusable(f"it answers {answer.status_code}")
        async for part in answer.aiter_bytes():
            content += part
            if len(content) > MAX_DOCUMENT:
                raise _Unusable("its answer is too long")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise _Unusable("its answer is no JSON object")
    return document


def _usable(published: object) -> Mapping[str, PyJWK]:
    if not isinstance(published, list) or len(published) > MAX_KEYS:
        raise _Unusable(f"its answer is no list of up to {MAX_KEYS} keys")
    keys = {}
    for data in published:
        # Keys for other ends, or of kinds that are not known here, may stand among them.
        if isinstance(data, dict) and data.get("use", "sig") == "sig" and _id(data):
            try:
                key = PyJWK(data)
            except (PyJWTError, TypeError, ValueError):
                continue
            if key.algorithm_name in ALGORITHMS:
                keys[_id(data)] = key
    if not keys:
        raise _Unusable("it has no key to verify a signature with")
    return keys


def _id(data: Mapping[str, object]) -> str:
    key_id = data.get("kid")
    return key_id if isinstance(key_id, str) else ""

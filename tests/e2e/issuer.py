"""A token issuer on this machine, with a key that is made anew in every run."""

import base64
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from memories.principal import READ, WRITE

AUDIENCE = "memories-e2e"
KEY_ID = "run"


class Issuer:
    """Signs tokens, and publishes the key to verify them with."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._key = new_key()

    def token(
        self,
        user: str,
        agent: str,
        scope: str = f"{READ} {WRITE}",
        changed: Mapping[str, object] | None = None,
    ) -> str:
        """Return a token that is good for some minutes, but for the claims that are changed."""
        return signed(self._key, self.claims(user, agent, scope) | dict(changed or {}))

    def claims(self, user: str, agent: str, scope: str = f"{READ} {WRITE}") -> dict[str, object]:
        now = int(time.time())
        return {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": user,
            "client_id": agent,
            "scope": scope,
            "iat": now,
            "exp": now + 600,
        }

    def documents(self) -> dict[str, object]:
        """Return what is published, by path."""
        numbers = self._key.public_key().public_numbers()
        key = {
            "kty": "RSA",
            "use": "sig",
            "alg": "RS256",
            "kid": KEY_ID,
            "n": _encoded(numbers.n.to_bytes(256, "big")),
            "e": _encoded(numbers.e.to_bytes(3, "big")),
        }
        return {
            "/.well-known/openid-configuration": {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
            },
            "/keys": {"keys": [key]},
        }


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def signed(key: rsa.RSAPrivateKey, claims: Mapping[str, object]) -> str:
    """Return a token that says it is signed with the issuer's key, whichever ``key`` is."""
    content = _content({"alg": "RS256", "typ": "JWT", "kid": KEY_ID}, claims)
    signature = key.sign(content.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{content}.{_encoded(signature)}"


def unsigned(claims: Mapping[str, object]) -> str:
    """Return a token that says it needs no signature."""
    return _content({"alg": "none", "typ": "JWT", "kid": KEY_ID}, claims) + "."


@contextmanager
def issuing() -> Iterator[Issuer]:
    """Serve an issuer on loopback."""
    documents: dict[str, object] = {}

    class Documents(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            document = documents.get(self.path)
            body = json.dumps(document).encode()
            self.send_response(200 if document else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
            """Stay quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Documents) as server:
        issuer = Issuer(f"http://127.0.0.1:{server.server_address[1]}")
        documents |= issuer.documents()
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()


def _content(header: Mapping[str, object], claims: Mapping[str, object]) -> str:
    return ".".join(_encoded(json.dumps(part).encode()) for part in (header, claims))


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()

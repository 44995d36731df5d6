"""A token issuer on this machine, with keys that are made anew in every run."""

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
    """Signs tokens, and publishes the keys to verify them with."""

    def __init__(self, url: str) -> None:
        self.url = url
        # What it answers, by path, to those it answers at all.
        self.documents: dict[str, object] = {
            "/.well-known/openid-configuration": {"issuer": url, "jwks_uri": f"{url}/keys"},
        }
        self.answering = True
        self.requests: list[str] = []
        self.rotate(KEY_ID)

    def rotate(self, key_id: str) -> None:
        """Sign with a new key from now on, and publish no other."""
        self.key_id = key_id
        self.key = new_key()
        self.documents["/keys"] = {"keys": [published(key_id, self.key)]}

    def token(
        self,
        user: str,
        agent: str,
        scope: str = f"{READ} {WRITE}",
        changed: Mapping[str, object] | None = None,
    ) -> str:
        """Return a token that is good for some minutes, but for the claims that are changed."""
        claims = self.claims(user, agent, scope) | dict(changed or {})
        return signed(self.key, claims, self.key_id)

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

    def answer(self, path: str) -> bytes | None:
        self.requests.append(path)
        document = self.documents.get(path) if self.answering else None
        return None if document is None else json.dumps(document).encode()


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def signed(key: rsa.RSAPrivateKey, claims: Mapping[str, object], key_id: str = KEY_ID) -> str:
    """Return a token that says it is signed with an issuer's key, whichever ``key`` is."""
    content = content_of({"alg": "RS256", "typ": "JWT", "kid": key_id}, claims)
    signature = key.sign(content.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{content}.{encoded(signature)}"


def unsigned(claims: Mapping[str, object]) -> str:
    """Return a token that says it needs no signature."""
    return content_of({"alg": "none", "typ": "JWT", "kid": KEY_ID}, claims) + "."


@contextmanager
def issuing() -> Iterator[Issuer]:
    """Serve an issuer on loopback."""

    class Documents(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = issuer.answer(self.path) or b""
            self.send_response(200 if body else 500)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
            """Stay quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Documents) as server:
        issuer = Issuer(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()


def published(key_id: str, key: rsa.RSAPrivateKey) -> dict[str, str]:
    numbers = key.public_key().public_numbers()
    return {
        "kty": "RSA",
        "use": "sig",
        "alg": "RS256",
        "kid": key_id,
        "n": encoded(numbers.n.to_bytes(256, "big")),
        "e": encoded(numbers.e.to_bytes(3, "big")),
    }


def content_of(header: Mapping[str, object], claims: Mapping[str, object]) -> str:
    return ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))


def encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()

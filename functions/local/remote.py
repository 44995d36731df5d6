"""The client of a server at an address, which it asks over HTTP."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import httpx2

from http_api.errors import JSON, LINES
from local.client import Exported, Fields, Unavailable, told_of
from local.identity import AGENT_HEADER
from local.told import CannotDo, WronglyCalled
from memories.addresses import is_private
from memories.errors import Problem

# An import of a thousand lines may take a function as long as it may run, in seconds.
_TIMEOUT = 30.0

_BUSY = {429, 502, 503, 504}


class HttpClient:
    """Client of a server."""

    def __init__(self, url: str, token: str, agent: str) -> None:
        """``token`` may be empty, as one machine's server wants none. Raises CannotDo.

        ``agent`` is for such a server too: of a token's caller another one knows it.
        """
        if token and not is_private(url):
            raise CannotDo(
                f"refused to send the token to {url}, for others on the way could read it: "
                "use https://"
            )
        headers = {AGENT_HEADER.encode(): agent.encode()}
        if token:
            headers[b"authorization"] = f"Bearer {token}".encode()
        try:
            self._client = httpx2.Client(base_url=url, headers=headers, timeout=_TIMEOUT)
        except httpx2.InvalidURL as error:
            raise CannotDo(f"{url} is no address: {error}") from error

    def record(self, draft: Mapping[str, Any]) -> Fields:
        return self._one("POST", "/memories", body=draft)

    def search(self, query: Mapping[str, Any], full: bool) -> Fields:
        return self._one("GET", "/memories", {**query, **_view(full)})

    def inspect(self, memory_id: int, full: bool) -> Fields:
        return self._one("GET", f"/memories/{memory_id}", _view(full))

    def revise(
        self, memory_id: int, patch: Mapping[str, Any], expected_version: int | None
    ) -> Fields:
        return self._one(
            "PATCH", f"/memories/{memory_id}", body=patch, expected_version=expected_version
        )

    def retire(self, memory_id: int, expected_version: int | None) -> Fields:
        return self._one("DELETE", f"/memories/{memory_id}", expected_version=expected_version)

    def tags(self, query: Mapping[str, Any]) -> Fields:
        return self._one("GET", "/tags", query)

    def relations(self, memory_id: int, query: Mapping[str, Any]) -> Fields:
        return self._one("GET", f"/memories/{memory_id}/relations", query)

    def relate(self, from_id: int, relation_type: str, to_id: int, strength: float) -> Fields:
        path = f"/memories/{from_id}/relations/{quote(relation_type, '')}/{to_id}"
        return self._one("PUT", path, body={"strength": strength})

    def unrelate(self, from_id: int, relation_type: str, to_id: int) -> Fields:
        path = f"/memories/{from_id}/relations/{quote(relation_type, '')}/{to_id}"
        return self._one("DELETE", path)

    def export(self, after: int) -> Exported:
        answer = self._send("GET", "/export", params={"after": after})
        following = answer.links.get("next", {}).get("url")
        lines = answer.text.removesuffix("\n").split("\n") if answer.text else []
        return Exported(lines, _after(following) if following else None)

    def take_in(self, lines: bytes) -> Fields:
        answer = self._send("POST", "/import", content=lines, headers={"content-type": LINES})
        return _object(answer)

    def close(self) -> None:
        self._client.close()

    def _one(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        *,
        body: Mapping[str, Any] | None = None,
        expected_version: int | None = None,
    ) -> Fields:
        options: dict[str, Any] = {"params": query or {}, "headers": {}}
        if body is not None:
            options["json"] = body
            options["headers"]["content-type"] = JSON
        if expected_version is not None:
            options["headers"]["if-match"] = f'"{expected_version}"'
        return _object(self._send(method, path, **options))

    def _send(self, method: str, path: str, **options: Any) -> httpx2.Response:
        try:
            answer = self._client.request(method, path, **options)
        except httpx2.HTTPError as error:
            raise Unavailable(f"cannot reach {self._client.base_url}: {error}") from error
        if not answer.is_success:
            raise _error(answer)
        return answer


def _view(full: bool) -> dict[str, str]:
    return {"view": "full"} if full else {}


def _after(link: str) -> int:
    return int(parse_qs(urlsplit(link).query)["after"][0])


def _object(answer: httpx2.Response) -> Fields:
    try:
        found = answer.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise CannotDo(f"{answer.url.host} does not answer as memories does; is the address right?")
    return found


def _error(answer: httpx2.Response) -> Exception:
    try:
        detail = answer.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = f"{answer.url.host} answered {answer.status_code} {answer.reason_phrase}"
    if isinstance(detail, list):
        problems = [Problem(each["type"], tuple(each["loc"][1:]), each["msg"]) for each in detail]
        return WronglyCalled(told_of(problems))
    if answer.status_code in _BUSY:
        return Unavailable(str(detail), _seconds(answer.headers.get("retry-after", "1")))
    if answer.status_code == 401:
        return CannotDo(f"{detail}; the token is taken from MEMORIES_TOKEN")
    return CannotDo(str(detail))


def _seconds(text: str) -> float:
    return float(text) if text.isdigit() else 1

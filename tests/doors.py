"""The doors as one interface, so that one suite holds the contract for each of them."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol
from urllib.parse import quote, urlencode

from http_client import Answer, HttpClient

Fields = dict[str, Any]
Memory = dict[str, Any]
Page = dict[str, Any]


class Refused(Exception):
    """The door answered an error. ``where`` are the places that it names."""

    def __init__(
        self, kind: str, text: str, where: Sequence[str] = (), current: Memory | None = None
    ) -> None:
        self.kind = kind
        self.text = text
        self.where = where
        self.current = current
        super().__init__(f"{kind}: {text}")


class Door(Protocol):
    @property
    def replayed(self) -> bool:
        """Whether the last answer said that it was given before."""

    def record(self, **fields: Any) -> Memory: ...
    def record_batch(
        self, drafts: Sequence[dict[str, Any]], idempotency_key: str | None = None
    ) -> list[Memory]: ...
    def search(self, **query: Any) -> Page: ...
    def inspect(self, memory_id: Any, full: bool = False) -> Memory: ...
    def revise(
        self, memory_id: Any, expected_version: int | None = None, **fields: Any
    ) -> Memory: ...
    def retire(self, memory_id: Any, expected_version: int | None = None) -> Memory: ...
    def share(self, memory_id: Any, **grants: Any) -> Fields: ...
    def relate(self, from_id: Any, relation_type: str, to_id: Any, **fields: Any) -> Fields: ...
    def unrelate(self, from_id: Any, relation_type: str, to_id: Any) -> Fields: ...
    def relations(self, memory_id: Any, **query: Any) -> list[Fields]:
        """Return the relations of a memory, those of the first page at least."""

    def tags(self, **query: Any) -> Page: ...


_KINDS = {
    403: "forbidden",
    404: "not found",
    409: "conflict",
    412: "stale",
    422: "invalid",
    429: "too many",
    503: "unavailable",
}


class HttpDoor:
    def __init__(self, client: HttpClient) -> None:
        self.client = client
        self.replayed = False

    def record(self, **fields: Any) -> Memory:
        key = fields.pop("idempotency_key", None)
        return self._one("POST", "/memories", fields, None, key)

    def record_batch(
        self, drafts: Sequence[dict[str, Any]], idempotency_key: str | None = None
    ) -> list[Memory]:
        memories: list[Memory] = self._send(
            "POST", "/memories/batch", drafts, None, idempotency_key
        )
        return memories

    def search(self, **query: Any) -> Page:
        if query.pop("full", False):
            query["view"] = "full"
        return self._one("GET", f"/memories?{urlencode(query)}")

    def inspect(self, memory_id: Any, full: bool = False) -> Memory:
        return self._one("GET", f"/memories/{memory_id}{'?view=full' if full else ''}")

    def revise(self, memory_id: Any, expected_version: int | None = None, **fields: Any) -> Memory:
        return self._one("PATCH", f"/memories/{memory_id}", fields, expected_version)

    def retire(self, memory_id: Any, expected_version: int | None = None) -> Memory:
        return self._one("DELETE", f"/memories/{memory_id}", None, expected_version)

    def share(self, memory_id: Any, **grants: Any) -> Fields:
        """Change the grants that are given; the others are read first and sent as they are."""
        permissions = self._one("GET", f"/memories/{memory_id}/permissions")
        return self._one("PUT", f"/memories/{memory_id}/permissions", permissions | grants)

    def relate(self, from_id: Any, relation_type: str, to_id: Any, **fields: Any) -> Fields:
        return self._one("PUT", _relation(from_id, relation_type, to_id), fields)

    def unrelate(self, from_id: Any, relation_type: str, to_id: Any) -> Fields:
        return self._one("DELETE", _relation(from_id, relation_type, to_id))

    def relations(self, memory_id: Any, **query: Any) -> list[Fields]:
        page = self._one("GET", f"/memories/{memory_id}/relations?{urlencode(query)}")
        items: list[Fields] = page["items"]
        return items

    def tags(self, **query: Any) -> Page:
        return self._one("GET", f"/tags?{urlencode(query)}")

    def _one(self, *request: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self._send(*request)
        return answer

    def _send(
        self,
        method: str,
        target: str,
        body: object = None,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        headers = {} if expected_version is None else {"if_match": f'"{expected_version}"'}
        if idempotency_key is not None:
            headers["idempotency_key"] = idempotency_key
        answer = self.client.send(method, target, body, **headers)
        self.replayed = answer.headers.get("idempotent-replayed") == "true"
        if answer.status >= 400:
            raise _refused(answer)
        return answer.body


def _relation(from_id: Any, relation_type: str, to_id: Any) -> str:
    return f"/memories/{from_id}/relations/{quote(relation_type)}/{to_id}"


def _refused(answer: Answer) -> Refused:
    detail = answer.body["detail"]
    kind = _KINDS[answer.status]
    if isinstance(detail, str):
        return Refused(kind, detail, current=answer.body.get("memory"))
    where = [".".join(map(str, problem["loc"][1:])) for problem in detail]
    return Refused(kind, "; ".join(problem["msg"] for problem in detail), where)


def draft(content: str = "Likes tea", **fields: Any) -> dict[str, Any]:
    return {"content": content, "tags": ["test"], **fields}


def pages(door: Door, **query: Any) -> Iterator[Page]:
    """Follow ``has_more`` to the end."""
    offset = 0
    while True:
        page = door.search(**query, offset=offset)
        yield page
        offset += len(page["items"])
        if not page["has_more"]:
            return


def ids(page: Page) -> list[int]:
    return [memory["id"] for memory in page["items"]]

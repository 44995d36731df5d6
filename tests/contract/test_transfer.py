"""Export and import over HTTP: whole records, each once, whatever was here before."""

import json
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import pytest

from clock import Clock
from doors import draft, ids
from http_api.app import Handler
from http_client import Answer, EventClient, HttpClient, claims_of

LINES = {"content-type": "application/x-ndjson"}
AT = "2026-01-02T03:04:05.000006Z"


@pytest.fixture
def http(handler: Handler) -> HttpClient:
    return EventClient(handler)


@pytest.fixture
def elsewhere(handler: Handler) -> HttpClient:
    """Another user, whose collection is empty."""
    return EventClient(handler, claims_of("elsewhere"))


def exported_pages(http: HttpClient, **query: int) -> Iterator[list[str]]:
    """Follow the links to the end."""
    target = "/export?" + "&".join(f"{name}={value}" for name, value in query.items())
    while target:
        answer = http.send("GET", target)
        assert answer.status == 200
        assert answer.headers["content-type"] == "application/x-ndjson"
        yield answer.text.splitlines()
        link, _, relation = answer.headers.get("link", "").partition(";")
        assert relation in {"", ' rel="next"'}
        target = link.strip("<>")


def exported(http: HttpClient, **query: int) -> list[dict[str, Any]]:
    return [json.loads(line) for page in exported_pages(http, **query) for line in page]


def send_lines(http: HttpClient, *lines: object) -> Answer:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return http.request("POST", "/import", text.encode(), LINES)


def imported(http: HttpClient, *lines: object) -> dict[str, Any]:
    answer = send_lines(http, *lines)
    assert answer.status == 200, answer.text
    report: dict[str, Any] = answer.body
    results = [line["result"] for line in report["lines"]]
    for result in ("recorded", "kept", "refused"):
        assert report[result] == results.count(result)
    return report


def reported(report: dict[str, Any]) -> list[tuple[int, str, int | None]]:
    return [(line["line"], line["result"], line["id"]) for line in report["lines"]]


def line(memory_id: int, content: str = "Likes tea", **fields: Any) -> dict[str, Any]:
    return {"id": memory_id, "created_at": AT, "agent_id": "maker", **draft(content), **fields}


def test_an_export_holds_every_field_of_every_status(http: HttpClient, clock: Clock) -> None:
    http.send("POST", "/memories", draft("One", category="c", source="s", importance=9))
    http.send("POST", "/memories", draft("Two", shared_with_agents=["b"], is_public=False))
    made = clock.now
    changed = clock.advance()
    http.send("PATCH", "/memories/1", {"status": "invalid"})
    read = clock.advance()
    http.send("GET", "/memories/1")
    http.send("DELETE", "/memories/2")

    assert exported(http) == [
        {
            "id": 1,
            "content": "One",
            "tags": ["test"],
            "created_at": made,
            "updated_at": changed,
            "last_accessed_at": read,
            "memory_type": "fact",
            "status": "invalid",
            "version": 2,
            "type": "memory",
            "agent_id": "local",
            "importance": 9,
            "category": "c",
            "source": "s",
            "access_count": 1,
            "permissions": {"is_public": True, "read_only": False, "shared_with_agents": []},
            "relations": [],
        },
        {
            "id": 2,
            "content": "Two",
            "tags": ["test"],
            "created_at": made,
            "updated_at": made,
            "last_accessed_at": None,
            "memory_type": "fact",
            "status": "deleted",
            "version": 1,
            "type": "memory",
            "agent_id": "local",
            "importance": 5,
            "category": None,
            "source": None,
            "access_count": 0,
            "permissions": {"is_public": False, "read_only": False, "shared_with_agents": ["b"]},
            "relations": [],
        },
    ]


def test_an_export_leaves_no_trace(http: HttpClient) -> None:
    http.send("POST", "/memories", draft())

    assert exported(http) == exported(http)


def test_an_agent_exports_what_it_may_read_and_no_more(handler: Handler) -> None:
    doors = [EventClient(handler, claims_of("local", agent)) for agent in ("maker", "b", "c")]
    doors[0].send("POST", "/memories", draft("Public"))
    doors[0].send("POST", "/memories", draft("Private", is_public=False))
    doors[0].send("POST", "/memories", draft("For b", is_public=False, shared_with_agents=["b"]))

    assert [[each["id"] for each in exported(door)] for door in doors] == [[1, 2, 3], [1, 3], [1]]


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_the_pages_of_an_export_are_all_of_it_once(http: HttpClient, limit: int) -> None:
    other = {"is_public": False}
    for number in range(7):
        http.send("POST", "/memories", draft(str(number), **(other if number % 3 else {})))

    found = list(exported_pages(http, limit=limit))

    assert [len(page) for page in found] == [limit] * (7 // limit) + [7 % limit] * (7 % limit > 0)
    assert [json.loads(line)["id"] for page in found for line in page] == list(range(1, 8))


def test_an_export_can_go_on_after_any_record(http: HttpClient) -> None:
    for number in range(3):
        http.send("POST", "/memories", draft(str(number)))

    assert [each["id"] for each in exported(http, after=1)] == [2, 3]
    assert exported(http, after=3) == []


def test_pages_reach_what_is_after_much_that_is_hidden(handler: Handler) -> None:
    private = {"is_public": False, "read_only": False, "shared_with_agents": []}
    mine, other = (EventClient(handler, claims_of("local", agent)) for agent in ("a", "b"))
    imported(mine, *(line(number, permissions=private) for number in range(1, 301)))
    other.send("POST", "/memories", draft("Public"))

    assert [each["id"] for each in exported(mine)] == [301]


def test_a_page_of_an_export_stays_below_a_megabyte(http: HttpClient) -> None:
    # Three bytes each in UTF-8.
    for _ in range(5):
        http.send("POST", "/memories/batch", [draft("太" * 8_000)] * 10)

    found = list(exported_pages(http))

    assert [len(page) for page in found] == [41, 9]
    assert all(len("\n".join(page).encode()) < 1_000_000 for page in found)


@pytest.mark.parametrize("query", ["after=-1", "after=x", "limit=0", "cursor=1", "after=1.0"])
def test_an_export_refuses_what_it_does_not_know(http: HttpClient, query: str) -> None:
    assert http.send("GET", f"/export?{query}").status == 422


def test_what_was_exported_is_the_same_elsewhere(
    http: HttpClient, elsewhere: HttpClient, clock: Clock
) -> None:
    http.send("POST", "/memories", draft("One", is_public=False, read_only=True))
    http.send("POST", "/memories", draft("Two", importance=0, category="c", source="s"))
    clock.advance()
    http.send("PATCH", "/memories/2", {"content": "Second"})
    http.send("GET", "/memories/2")
    http.send("DELETE", "/memories/1")
    clock.advance()

    report = imported(elsewhere, *exported(http))

    assert reported(report) == [(1, "recorded", 1), (2, "recorded", 2)]
    assert exported(elsewhere) == exported(http)
    # What is imported is found as what was recorded here is, and ids go on after it.
    assert ids(elsewhere.send("GET", "/memories?q=SECOND&tag=test").body) == [2]
    assert ids(elsewhere.send("GET", "/memories?status=deleted").body) == [1]
    assert elsewhere.send("POST", "/memories", draft()).body["id"] == 3


def test_importing_again_adds_and_changes_nothing(http: HttpClient) -> None:
    lines = [line(3), line(5, "Likes coffee")]
    imported(http, *lines)
    http.send("PATCH", "/memories/3", {"content": "Likes green tea"})
    before = exported(http)

    for _ in range(2):
        assert reported(imported(http, *lines)) == [(1, "kept", 3), (2, "kept", 5)]
        assert exported(http) == before


def test_an_export_imported_where_it_came_from_adds_nothing(http: HttpClient) -> None:
    http.send("POST", "/memories/batch", [draft("a"), draft("b")])
    before = exported(http)

    assert imported(http, *before)["kept"] == 2
    assert exported(http) == before


def test_a_record_whose_id_is_taken_gets_a_new_one_once(http: HttpClient) -> None:
    http.send("POST", "/memories", draft("Here first"))

    for result in ("recorded", "kept", "kept"):
        report = imported(http, line(1, "From elsewhere"), line(2, "Free"))
        assert reported(report)[0] == (1, result, 3)
        assert reported(report)[1] == (2, result, 2)
    found = http.send("GET", "/memories").body["items"]
    assert [(each["id"], each["content"]) for each in found] == [
        (1, "Here first"),
        (2, "Free"),
        (3, "From elsewhere"),
    ]
    assert found[2]["created_at"] == AT


def test_a_record_with_a_new_id_is_not_taken_for_the_one_that_comes_with_that_id(
    http: HttpClient,
) -> None:
    # All were made at one time, by one agent.
    http.send("POST", "/memories", draft("Here first"))

    for result in ("recorded", "kept"):
        assert reported(imported(http, line(1, "One"))) == [(1, result, 2)]
        assert reported(imported(http, line(2, "Two"))) == [(1, result, 3)]
        assert reported(imported(http, line(3, "Three"))) == [(1, result, 4)]


def test_what_got_another_id_or_had_none_is_known_when_it_comes_back(http: HttpClient) -> None:
    http.send("POST", "/memories", draft("Here first"))
    imported(http, line(1, "From elsewhere"), draft("Of no id"))
    before = exported(http)
    http.send("PATCH", "/memories/3", {"content": "Of no id, revised"})

    assert reported(imported(http, *before)) == [(1, "kept", 1), (2, "kept", 2), (3, "kept", 3)]


def test_records_of_one_file_that_share_an_id_are_both_stored(http: HttpClient) -> None:
    lines = [line(1, "One"), line(1, "Two", agent_id="another"), line(1, "One")]

    assert reported(imported(http, *lines)) == [
        (1, "recorded", 1),
        (2, "recorded", 2),
        (3, "kept", 1),
    ]
    # The second one's place is known also where it comes alone.
    assert reported(imported(http, lines[1])) == [(1, "kept", 2)]


def test_an_id_that_would_use_up_the_ids_is_replaced(http: HttpClient) -> None:
    for number, high in zip(count(1), (2**31, 2**32, 2**63 - 1), strict=False):
        assert reported(imported(http, line(high))) == [(1, "recorded", number)]


@pytest.mark.onward
def test_a_line_without_an_id_is_known_by_all_it_says(http: HttpClient, clock: Clock) -> None:
    first = imported(http, draft("Likes tea"), draft("Likes coffee"), draft("Likes tea"))
    assert reported(first) == [(1, "recorded", 1), (2, "recorded", 2), (3, "kept", 1)]
    clock.advance()

    again = imported(http, draft("Likes tea"), draft("Likes tea", importance=9))

    assert reported(again) == [(1, "kept", 1), (2, "recorded", 3)]
    assert exported(http)[0]["created_at"] < clock.now
    assert exported(http)[2]["created_at"] == clock.now
    assert exported(http)[0]["agent_id"] == "local"


WRONG: Sequence[tuple[object, str]] = [
    ("not JSON", ""),
    ("[]", ""),
    ('"memory"', ""),
    (line(1, ""), "content"),
    (line(1, "x" * 8_001), "content"),
    (line(1, "a\u0000b"), "content"),
    (line(1, tags=[]), "tags"),
    (line(1, tags=["x" * 65]), "tags.0"),
    (line(1, created_at="2026-01-02T03:04:05Z"), "created_at"),
    (line(1, created_at="2026-02-30T03:04:05.000000Z"), "created_at"),
    (line(1, created_at="2026-01-02T03:04:05.000000+00:00"), "created_at"),
    (line(1, updated_at=5), "updated_at"),
    (line(0), "id"),
    (line(2**63), "id"),
    (line(1) | {"id": "1"}, "id"),
    ({"id": 1, **draft()}, ""),
    (line(1, version=0), "version"),
    (line(1, version=2**53), "version"),
    (line(1, access_count=-1), "access_count"),
    (line(1, status="gone"), "status"),
    (line(1, agent_id=""), "agent_id"),
    (line(1, user_id="another"), "user_id"),
    (line(1, type="entity"), ""),
    ({"type": "relation", "from_id": 7, "to_id": 8}, "relation_type"),
    ({"type": "relation", "from_id": 0, "to_id": 8, "relation_type": "follows"}, "from_id"),
    ({"type": "relation", "from_id": 7, "to_id": 8, "relation_type": "Follows"}, "relation_type"),
    ({"type": "relation", "from_id": 7, "to_id": 7, "relation_type": "follows"}, "to_id"),
    ({"type": "relation", "from_id": 9, "to_id": 7, "relation_type": "follows"}, "from_id"),
    (line(1, relations=[{"to_id": 7}]), "relations.0.relation_type"),
    (line(1, permissions={"is_public": False}), "permissions.read_only"),
]


@pytest.mark.parametrize(("wrong", "where"), WRONG)
def test_a_line_that_breaks_a_rule_is_refused_with_the_reason_and_stops_no_other(
    http: HttpClient, wrong: object, where: str
) -> None:
    report = imported(http, line(7), "", wrong, line(8))

    assert reported(report) == [(1, "recorded", 7), (3, "refused", None), (4, "recorded", 8)]
    problems = report["lines"][1]["problems"]
    assert ".".join(map(str, problems[0]["loc"])) == where
    assert problems[0]["msg"]


def test_a_reason_does_not_repeat_what_was_sent(http: HttpClient) -> None:
    answer = send_lines(http, '{"content": "my secret', line(1, content="my secret\u0001"))

    assert answer.body["refused"] == 2
    assert "secret" not in answer.text


def test_a_thousand_lines_are_taken_and_one_more_is_refused(http: HttpClient) -> None:
    assert imported(http, *["{}"] * 1_000)["refused"] == 1_000

    answer = send_lines(http, *["{}"] * 1_001)
    assert (answer.status, answer.body["detail"][0]["loc"]) == (422, ["body"])


def test_an_import_of_nothing_is_one(http: HttpClient) -> None:
    assert imported(http, "", " ", "\r")["lines"] == []


@pytest.mark.parametrize("scopes", ["memories:read", "memories:read memories:write"])
def test_who_may_not_say_who_made_a_memory_may_not_import(handler: Handler, scopes: str) -> None:
    answer = send_lines(EventClient(handler, claims_of("local", "local", scopes)), line(1))

    assert answer.status == 403
    assert exported(EventClient(handler)) == []


def test_an_export_needs_the_scope_to_read(handler: Handler) -> None:
    client = EventClient(handler, claims_of("local", "local", "memories:write memories:admin"))

    assert client.send("GET", "/export").status == 403


def test_an_import_is_sent_as_lines(http: HttpClient) -> None:
    answer = http.send("POST", "/import", draft())

    assert answer.status == 415
    assert "application/x-ndjson" in answer.body["detail"]


def test_users_import_and_export_their_own_only(http: HttpClient, elsewhere: HttpClient) -> None:
    imported(http, line(1))

    assert exported(elsewhere) == []
    assert reported(imported(elsewhere, line(1, "Likes coffee"))) == [(1, "recorded", 1)]
    assert exported(http)[0]["content"] == "Likes tea"


def relation(from_id: int, to_id: int, **fields: Any) -> dict[str, Any]:
    made = {"created_at": AT, "agent_id": "maker"}
    ends = {"from_id": from_id, "relation_type": "follows", "to_id": to_id}
    return {"type": "relation", **ends, "strength": 1.0, **made, **fields}


def shown(http: HttpClient, memory_id: int) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = http.send("GET", f"/memories/{memory_id}/relations").body["items"]
    return [{"type": "relation", **each} for each in items]


def test_relations_leave_and_come_with_their_memories(
    http: HttpClient, elsewhere: HttpClient, clock: Clock
) -> None:
    for number in range(3):
        http.send("POST", "/memories", draft(str(number)))
    http.send("PUT", "/memories/1/relations/follows/3", {"strength": 0.5})
    clock.advance()
    http.send("PUT", "/memories/3/relations/supersedes/1")

    lines = exported(http)
    assert [[each["to_id"] for each in one["relations"]] for one in lines] == [[3], [], [1]]
    assert imported(elsewhere, *lines)["recorded"] == 3

    assert exported(elsewhere) == lines
    assert shown(elsewhere, 1) == shown(http, 1)
    assert len(shown(http, 1)) == 2


def test_relations_follow_a_memory_to_its_new_id(http: HttpClient) -> None:
    http.send("POST", "/memories", draft("Here first"))
    edge = {name: relation(1, 2)[name] for name in ("relation_type", "strength", "created_at")}
    lines = [
        line(1, relations=[edge | {"to_id": 2, "agent_id": "maker"}]),
        line(2, relations=[edge | {"to_id": 1, "agent_id": "maker"}]),
    ]

    for _ in range(2):
        imported(http, *lines)
        assert shown(http, 1) == []
        assert shown(http, 3) == [relation(3, 2), relation(2, 3)]


def test_a_relation_that_is_here_is_kept_as_it_is(http: HttpClient) -> None:
    imported(http, line(1), line(2), relation(1, 2, strength=0.25))

    report = imported(http, relation(1, 2, strength=0.75, created_at=AT.replace("2026", "2025")))

    assert reported(report) == [(1, "kept", None)]
    assert shown(http, 1) == [relation(1, 2, strength=0.25)]


def test_a_relation_to_what_is_not_in_the_import_is_told_and_its_memory_recorded(
    http: HttpClient,
) -> None:
    http.send("POST", "/memories", draft("Another's number 1"))

    report = imported(http, line(2, relations=[{"to_id": 1, "relation_type": "follows"}]))

    assert reported(report) == [(1, "recorded", 2)]
    assert report["lines"][0]["problems"][0]["loc"] == ["relations", 0, "to_id"]
    assert shown(http, 2) == []


def test_a_relation_is_recorded_as_its_agent_may(handler: Handler) -> None:
    maker, other = (EventClient(handler, claims_of("local", agent)) for agent in ("maker", "b"))
    private = {"is_public": False, "read_only": False, "shared_with_agents": []}
    locked = private | {"is_public": True, "read_only": True}
    imported(other, line(1, permissions=private), line(2, permissions=locked), line(3))

    for agent, results in (("maker", ["recorded"] * 3), ("b", ["refused", "refused", "refused"])):
        lines = [relation(*ends, agent_id=agent) for ends in ((1, 3), (3, 1), (2, 3))]
        assert [each["result"] for each in imported(other, *lines)["lines"]] == results
    assert len(shown(maker, 3)) == 3
    # The other agent sees, and exports, what it may read of both ends.
    assert [one["relations"] != [] for one in exported(other)] == [True, False]
    assert [one["relations"] != [] for one in exported(maker)] == [True, True, True]


def test_relations_of_deleted_memories_are_not_exported(http: HttpClient) -> None:
    imported(http, line(1), line(2), line(3), relation(1, 2), relation(2, 3), relation(3, 1))
    http.send("DELETE", "/memories/2")

    assert [len(one["relations"]) for one in exported(http)] == [0, 0, 1]


def test_who_made_what_is_imported_is_an_agent_and_can_be_erased(
    http: HttpClient, clock: Clock
) -> None:
    now = clock.now
    imported(http, line(1), line(2, "Other", agent_id="other"))
    agents = http.send("GET", "/agents").body
    assert {each["agent_id"]: each["created_at"] for each in agents["items"]} == dict.fromkeys(
        ("local", "maker", "other"), now
    )

    receipt = http.send("DELETE", "/agents/maker").body

    assert (receipt["erased"]["memories"], receipt["erased"]["agents"]) == (1, 1)
    assert [each["id"] for each in exported(http)] == [2]


def test_a_user_is_known_since_the_first_request_and_not_since_what_is_imported(
    http: HttpClient, clock: Clock
) -> None:
    now = clock.now
    imported(http, line(1))
    clock.advance()
    assert http.send("GET", "/me").body["created_at"] == now

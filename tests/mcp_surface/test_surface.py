"""What an MCP client sees: the lists, the texts, the results and the errors."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, TextContent, TextResourceContents

from clock import Clock
from doors import Refused, draft
from mcp_door import McpDoor, texts_of
from mcp_snapshot import SNAPSHOT, surface
from memories.errors import StoreUnavailable

Objects = list[dict[str, Any]]


@pytest.fixture
def listed(mcp: McpDoor) -> dict[str, Objects]:
    return mcp.portal.call(surface, mcp.client)


def read(mcp: McpDoor, uri: str) -> tuple[str | None, str]:
    """Return the type and the text of a resource."""
    (contents,) = mcp.portal.call(mcp.client.read_resource, uri).contents
    assert isinstance(contents, TextResourceContents)
    assert contents.uri == uri
    return contents.mime_type, contents.text


def refusal(call: Callable[[], object]) -> tuple[int, str, object]:
    """Return the protocol error that a call is answered with."""
    with pytest.raises(MCPError) as raised:
        call()
    return raised.value.error.code, raised.value.error.message, raised.value.error.data


def schemas(part: object) -> Iterator[dict[str, Any]]:
    """Return every object in a schema."""
    if isinstance(part, list):
        for item in part:
            yield from schemas(item)
    if isinstance(part, dict):
        yield part
        for value in part.values():
            yield from schemas(value)


# The lists


def test_what_it_lists_is_what_it_listed_before(listed: dict[str, Objects]) -> None:
    # When the change is meant: python tests/mcp_snapshot.py
    assert listed == json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_every_schema_is_one_that_all_clients_take(listed: dict[str, Objects]) -> None:
    for tool in listed["tools"]:
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            for part in schemas(schema):
                assert not part.keys() & {"$ref", "$defs", "allOf", "oneOf", "const"}
                assert not isinstance(part.get("title"), str)


def test_every_argument_is_closed_and_described_and_none_may_be_null(
    listed: dict[str, Objects],
) -> None:
    for tool in listed["tools"]:
        objects = [part for part in schemas(tool["inputSchema"]) if "properties" in part]
        for part in objects:
            assert part["additionalProperties"] is False
            for name, argument in part["properties"].items():
                assert argument.get("description"), f"{tool['name']}: {name}"
                assert isinstance(argument["type"], str)
                assert argument["type"] != "null"


def test_tools_have_snake_case_names_titles_and_descriptions(listed: dict[str, Objects]) -> None:
    assert [tool["name"] for tool in listed["tools"]] == [
        "prime_memory_context",
        "search_memories",
        "record_memory",
        "record_memories",
        "inspect_memory",
        "revise_memory",
        "share_memory",
        "retire_memory",
        "relate_memories",
        "get_related_memories",
        "list_tags",
    ]
    for tool in listed["tools"]:
        assert tool["title"] == tool["annotations"]["title"]
        assert 40 <= len(tool["description"]) <= 400


def test_the_hints_are_true_to_what_each_tool_does(listed: dict[str, Objects]) -> None:
    hints = {tool["name"]: tool["annotations"] for tool in listed["tools"]}

    def having(hint: str) -> set[str]:
        return {name for name, values in hints.items() if values[hint]}

    # All others write, a search too, and none reaches out of the memory.
    assert having("readOnlyHint") == {"list_tags"}
    assert having("openWorldHint") == set()
    changing = {"revise_memory", "share_memory", "retire_memory", "relate_memories"}
    assert having("destructiveHint") == having("idempotentHint") == changing


def test_lists_may_be_kept_for_an_hour_and_memories_not_at_all(mcp: McpDoor) -> None:
    mcp.record(**draft())
    lists: list[Any] = [
        mcp.portal.call(mcp.client.list_tools),
        mcp.portal.call(mcp.client.list_resources),
        mcp.portal.call(mcp.client.list_resource_templates),
        mcp.portal.call(mcp.client.list_prompts),
    ]
    # The earlier revisions have no hints; the client then takes it that nothing may be kept.
    modern = mcp.client.protocol_version == "2026-07-28"
    kept = (3_600_000, "public") if modern else (0, "private")
    assert {(each.ttl_ms, each.cache_scope) for each in lists} == {kept}

    memory = mcp.portal.call(mcp.client.read_resource, "memories://memories/1")
    assert (memory.ttl_ms, memory.cache_scope) == (0, "private")


def test_it_can_do_what_it_says_and_says_no_more(mcp: McpDoor) -> None:
    capabilities = mcp.client.server_capabilities.model_dump(exclude_none=True, by_alias=True)

    assert capabilities.keys() == {"tools", "resources", "prompts"}
    assert not any(value for each in capabilities.values() for value in each.values())


# The texts


def test_a_model_is_told_how_to_use_the_memory_when_it_connects(mcp: McpDoor) -> None:
    told = mcp.client.instructions

    assert told
    assert len(told) < 1000
    for word in ("prime_memory_context", "memories://policy", "revise", "retire", "invalid"):
        assert word in told


def test_the_prompt_says_what_the_instructions_say(mcp: McpDoor) -> None:
    prompt = mcp.portal.call(mcp.client.get_prompt, "use_memories")

    (message,) = prompt.messages
    assert isinstance(message.content, TextContent)
    assert (message.role, message.content.text) == ("user", mcp.client.instructions)
    assert prompt.description


def test_an_unknown_prompt_is_refused(mcp: McpDoor) -> None:
    answer = refusal(lambda: mcp.portal.call(mcp.client.get_prompt, "use_memory"))

    assert answer == (INVALID_PARAMS, "Unknown prompt: use_memory", None)


def test_the_policy_is_short_and_names_every_tool_of_a_single_memory(
    mcp: McpDoor, listed: dict[str, Objects]
) -> None:
    mime_type, text = read(mcp, "memories://policy")

    assert mime_type == "text/markdown"
    assert 1000 < len(text) < 4000
    for tool in ("prime_memory_context", "search_memories", "revise_memory", "retire_memory"):
        assert f"`{tool}`" in text


# Resources


def test_a_memory_is_a_resource_and_reading_it_marks_it_as_accessed(
    mcp: McpDoor, clock: Clock
) -> None:
    memory = mcp.record(**draft("Grüße"))
    now = clock.advance()

    mime_type, text = read(mcp, "memories://memories/1")

    assert mime_type == "application/json"
    assert json.loads(text) == memory | {"last_accessed_at": now}
    assert mcp.search()["items"] == [memory | {"last_accessed_at": now}]


UNKNOWN = [
    "memories://memories/2",
    "memories://memories/3",
    "memories://memories/0",
    "memories://memories/-1",
    "memories://memories/01",
    "memories://memories/1.0",
    "memories://memories/abc",
    "memories://memories/",
    "memories://memories/9223372036854775807",
    "memories://memories/9223372036854775808",
    "memories://memories/9999999999999999999",
    "memories://memories/1/content",
    "memories://memories/1%0A",
    "memories://memories/１",  # noqa: RUF001
    "memories://nothing",
    "file:///etc/passwd",
]


def test_an_unknown_resource_is_not_found(mcp: McpDoor) -> None:
    mcp.record(**draft())
    mcp.record(**draft())
    mcp.retire(2)

    for uri in UNKNOWN:
        answer = refusal(partial(mcp.portal.call, mcp.client.read_resource, uri))
        assert answer == (INVALID_PARAMS, "Resource not found", {"uri": uri})


# Results


def test_every_result_validates_and_is_the_same_in_text_and_in_structure(
    mcp: McpDoor, clock: Clock
) -> None:
    # The door holds every result to the published schema, and its text to its structure.
    preference = draft("Mag Grün", memory_type="preference")
    assert mcp.record(**preference)["last_accessed_at"] is None
    assert len(mcp.record_batch([draft('"quoted"\n\t\\'), draft(status="invalid")])) == 2
    assert mcp.search()["total"] == 3
    assert mcp.inspect(1)["last_accessed_at"] == clock.now
    assert mcp.revise(1, content="Mag Blau")["version"] == 2
    assert mcp.call("prime_memory_context", {})["preferences"]["total"] == 1
    assert mcp.retire(2)["status"] == "deleted"


def test_text_beside_ascii_is_sent_as_it_is(mcp: McpDoor) -> None:
    mcp.record(**draft("太郎 \U0001f9e0"))

    assert "太郎 \U0001f9e0" in texts_of(mcp.result("inspect_memory", {"memory_id": 1}))[0]


# Errors


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("record_memory", draft(tags='["a"]'), "tags: must be an array, not a string"),
    ("record_memory", draft(tags=[1]), "tags.0: must be a string, not a number"),
    ("record_memory", draft(tags=[]), "tags: must hold 1 to 20 different tags"),
    ("record_memory", draft(tags=[" "]), "tags.0: must not be empty or only white space"),
    ("record_memory", {"content": "x"}, "tags: required"),
    ("record_memory", draft("x" * 8001), "content: must have at most 8000 characters"),
    ("record_memory", draft(user_id="me"), "user_id: unknown field; remove it"),
    ("record_memory", draft(memory_type="note"), "memory_type: must be 'preference', 'fact'"),
    ("record_memory", draft(status="deleted"), "status: must be 'active' or 'invalid'"),
    ("record_memory", draft(idempotency_key=""), "idempotency_key: must have at least 1 char"),
    ("record_memories", {"memories": "[]"}, "memories: must be an array, not a string"),
    ("record_memories", {"memories": []}, "memories: must have at least 1 item"),
    ("record_memories", {"memories": [draft()] * 26}, "memories: must have at most 25 items"),
    ("record_memories", {"memories": ["x"]}, "memories.0: must be an object, not a string"),
    ("record_memories", {"memories": [draft(), {"content": "x"}]}, "memories.1.tags: required"),
    ("inspect_memory", {"memory_id": "7"}, "memory_id: must be an integer, not a string"),
    ("inspect_memory", {"memory_id": True}, "memory_id: must be an integer, not a boolean"),
    ("inspect_memory", {"memory_id": 0}, "memory_id: must be greater than or equal to 1"),
    ("inspect_memory", {"memory_id": 2**63}, "memory_id: must be less than or equal to 9223"),
    ("inspect_memory", {"id": 1}, "memory_id: required; id: unknown field; remove it"),
    ("inspect_memory", {}, "memory_id: required"),
    ("inspect_memory", {"memory_id": 7}, "Memory 7 not found"),
    ("revise_memory", {"memory_id": 7, "content": "x"}, "Memory 7 not found"),
    ("retire_memory", {"memory_id": 7}, "Memory 7 not found"),
    ("retire_memory", {"memory_id": [1]}, "memory_id: must be an integer, not an array"),
    ("search_memories", {"limit": "ten"}, "limit: must be an integer, not a string"),
    ("search_memories", {"limit": 0}, "limit: must be greater than or equal to 1"),
    ("search_memories", {"offset": {}}, "offset: must be an integer, not an object"),
    ("search_memories", {"sort": "relevance"}, "sort: must be 'id', 'created_at', 'updated_at'"),
    ("search_memories", {"q": " "}, "q: filter cannot be empty"),
    ("search_memories", {"q": ["x"]}, "q: must be a string, not an array"),
    ("search_memories", {"query": "x"}, "query: unknown field; remove it"),
    ("prime_memory_context", {"max_chars": 10}, "max_chars: must be greater than or equal to"),
    ("prime_memory_context", {"max_chars": "9999"}, "max_chars: must be an integer, not a st"),
    ("prime_memory_context", {"memory_type": "fact"}, "memory_type: unknown field; remove it"),
]


@pytest.mark.parametrize(("tool", "arguments", "said"), WRONG)
def test_a_wrong_call_is_told_in_one_short_line_what_is_wanted(
    mcp: McpDoor, tool: str, arguments: dict[str, Any], said: str
) -> None:
    result = mcp.result(tool, arguments)

    assert result.is_error
    assert result.structured_content is None
    (text,) = texts_of(result)
    assert text.startswith(said)
    assert "\n" not in text
    assert len(text) <= 120
    assert "pydantic" not in text
    assert "http" not in text


def test_a_long_name_and_many_faults_are_told_in_short(mcp: McpDoor) -> None:
    (text,) = texts_of(mcp.result("record_memory", draft() | {"n" * 5000: 1}))
    assert text == f"{'n' * 64}: unknown field; remove it"

    (text,) = texts_of(mcp.result("record_memory", draft(tags=[1] * 50)))
    assert text.endswith("; and more")
    assert len(text) < 300


@pytest.mark.parametrize("field", ["content", "tags", "memory_type", "status", "expected_version"])
def test_an_explicit_null_wipes_nothing_and_is_told(mcp: McpDoor, field: str) -> None:
    memory = mcp.record(**draft(memory_type="event"))

    with pytest.raises(Refused) as refused:
        mcp.call("revise_memory", {"memory_id": 1, "content": "Other", field: None})

    assert refused.value.where == [field]
    assert refused.value.text == "must not be null; leave it out instead"
    assert mcp.inspect(1) | {"last_accessed_at": None} == memory


def test_a_field_that_is_left_out_keeps_its_value(mcp: McpDoor) -> None:
    memory = mcp.record(content="Was here", tags=["a", "b"], memory_type="event")

    revised = mcp.revise(1, status="invalid")

    assert revised == memory | {"status": "invalid", "version": 2}


@pytest.mark.parametrize("tool", ["revise_memory", "retire_memory"])
def test_a_stale_version_is_told_with_the_memory_as_it_is(mcp: McpDoor, tool: str) -> None:
    mcp.record(**draft())
    current = mcp.revise(1, content="Likes coffee")
    change = {"content": "Likes water"} if tool == "revise_memory" else {}

    result = mcp.result(tool, {"memory_id": 1, "expected_version": 1, **change})

    assert result.is_error
    told, memory = texts_of(result)
    assert told.startswith("Memory is at version 2")
    assert json.loads(memory) == current
    assert mcp.inspect(1) | {"last_accessed_at": None} == current


@pytest.mark.parametrize("name", ["search_memory", "Search_Memories", "n" * 500])
def test_an_unknown_tool_is_refused_by_the_protocol(mcp: McpDoor, name: str) -> None:
    answer = refusal(lambda: mcp.result(name, {}))

    assert answer == (INVALID_PARAMS, f"Unknown tool: {name[:64]}", None)


class Failing:
    """Stands in for a service, and fails as it is told to."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    @property
    def accounts(self) -> "Failing":
        return self

    @property
    def fair_use(self) -> "Failing":
        return self

    def seen(self, *_: object) -> None:
        """The agent is known."""

    def count(self, *_: object, **__: object) -> None:
        """There is no limit."""

    def inspect(self, *_: object, **__: object) -> object:
        raise self.error


def test_a_store_that_does_not_answer_is_told_by_tool_and_by_resource(
    mcp: McpDoor, running: tuple[Any, str]
) -> None:
    running[0].service = Failing(StoreUnavailable(3))

    result = mcp.result("inspect_memory", {"memory_id": 1})
    assert result.is_error
    (text,) = texts_of(result)
    assert text.endswith("in 3 s")

    uri = "memories://memories/1"
    answer = refusal(lambda: mcp.portal.call(mcp.client.read_resource, uri))
    assert answer == (INTERNAL_ERROR, text, None)


def test_an_unexpected_error_shows_and_logs_nothing_of_what_it_holds(
    mcp: McpDoor, running: tuple[Any, str], caplog: pytest.LogCaptureFixture
) -> None:
    running[0].service = Failing(RuntimeError("what a person stored"))

    result = mcp.result("inspect_memory", {"memory_id": 1})
    assert (result.is_error, texts_of(result)) == (True, ["Internal error"])

    uri = "memories://memories/1"
    answer = refusal(lambda: mcp.portal.call(mcp.client.read_resource, uri))
    assert answer == (INTERNAL_ERROR, "Internal error", None)
    assert "RuntimeError" in caplog.text
    assert "what a person stored" not in caplog.text

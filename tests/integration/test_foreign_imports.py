"""``memories import`` of the files of others."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from local.cli import main

# As the server writes it.
GRAPH: list[dict[str, Any]] = [
    {
        "type": "entity",
        "name": "David Barnett",
        "entityType": "person",
        "observations": ["Speaks fluent Spanish", "Prefers mornings"],
    },
    {"type": "entity", "name": "Acme", "entityType": "organization", "observations": []},
    {"type": "relation", "from": "David Barnett", "to": "Acme", "relationType": "worksAt"},
]


class Imports:
    """A data file, and the command on it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    def of(self, text: str) -> tuple[int, str, list[str]]:
        """Import a file of the text, and return the code, the output and what was told."""
        file = self._folder / "import.json"
        file.write_text(text, encoding="utf-8")
        return self._run("import", str(file))

    def of_lines(self, lines: Sequence[object]) -> tuple[int, str, list[str]]:
        return self.of("\n".join(map(json.dumps, lines)))

    def memories(self) -> list[dict[str, Any]]:
        _, output, _ = self._run("export")
        return [json.loads(line) for line in output.splitlines()]

    def _run(self, *arguments: str) -> tuple[int, str, list[str]]:
        code = main([*arguments, "--data", str(self._folder / "m.db")])
        output, told = self._capsys.readouterr()
        return code, output, told.splitlines()


@pytest.fixture
def imports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Imports:
    return Imports(tmp_path, capsys)


def test_a_knowledge_graph_becomes_memories_and_their_relations(imports: Imports) -> None:
    code, output, told = imports.of_lines(GRAPH)

    assert code == 0
    assert output.splitlines() == [
        "memories: 4 recorded, 0 kept, 0 refused",
        "relations: 3 recorded, 0 kept, 0 refused",
    ]
    assert told == ["line 3: its type becomes works_at"]
    memories = imports.memories()
    assert [(each["content"], each["tags"]) for each in memories] == [
        ("David Barnett (person)", ["David Barnett", "person"]),
        ("Speaks fluent Spanish", ["David Barnett", "person"]),
        ("Prefers mornings", ["David Barnett", "person"]),
        ("Acme (organization)", ["Acme", "organization"]),
    ]
    edges = [
        (each["id"], relation["relation_type"], relation["to_id"])
        for each in memories
        for relation in each["relations"]
    ]
    assert edges == [(1, "works_at", 4), (2, "elaborates", 1), (3, "elaborates", 1)]


@pytest.mark.parametrize("indent", [None, 2])
def test_what_the_graphs_tool_answers_is_read_as_well(imports: Imports, indent: int | None) -> None:
    graph = {"entities": GRAPH[:2], "relations": GRAPH[2:]}

    assert imports.of(json.dumps(graph, indent=indent))[0] == 0
    assert len(imports.memories()) == 4


def test_the_same_graph_again_adds_nothing_and_a_longer_one_only_what_is_new(
    imports: Imports,
) -> None:
    imports.of_lines(GRAPH)
    longer = [GRAPH[0] | {"observations": ["Speaks fluent Spanish", "Likes tea"]}, *GRAPH[1:]]

    _, output, _ = imports.of_lines(GRAPH)
    assert "memories: 0 recorded, 4 kept" in output
    assert "relations: 0 recorded, 3 kept" in output
    _, output, _ = imports.of_lines(longer)
    assert "memories: 1 recorded, 3 kept" in output
    assert "relations: 1 recorded, 2 kept" in output


def test_what_does_not_fit_is_split_shortened_or_refused_and_told(imports: Imports) -> None:
    long = " ".join(f"word{number}" for number in range(2_000))
    name = "n" * 100
    code, _, told = imports.of_lines(
        [
            {"type": "entity", "name": name, "entityType": "t", "observations": [long, " ", 5]},
            {"type": "entity", "name": "", "entityType": "t", "observations": []},
            {"type": "note"},
            {"type": "relation", "from": name, "to": "nowhere", "relationType": "関係"},
        ]
    )

    assert code == 1
    assert told == [
        "line 3: is neither an entity nor a relation",
        "line 1: a tag of 100 characters is cut to 64",
        "line 1, observation 1: is too long for one memory and becomes 3",
        "line 1, observation 2: an observation must be a text that is not blank",
        "line 1, observation 3: an observation must be a text that is not blank",
        "line 2: an entity needs a name",
        "line 4: its type becomes related_to",
        "line 4: a relation's other end was not imported",
    ]
    parts = [each["content"] for each in imports.memories()[1:]]
    assert all(len(part) <= 8_000 for part in parts)
    assert " ".join(parts) == long


def exported(*memories: Mapping[str, Any]) -> str:
    """Return an export as mcp-memory-service writes it."""
    metadata = {"source_machine": "laptop", "total_memories": len(memories)}
    return json.dumps({"export_metadata": metadata, "memories": memories}, indent=2)


MEMORY = {
    "content": "Deploys on Fridays are out",
    "content_hash": "0" * 64,
    "tags": ["deploy", "team"],
    "created_at": 1775484720.25,
    "updated_at": 1775484780.0,
    "memory_type": "decision",
    "metadata": {"quality_score": 0.8},
    "store": "default",
    "export_source": "laptop",
}


def test_an_export_of_mcp_memory_service_becomes_memories(imports: Imports) -> None:
    text = exported(MEMORY, MEMORY | {"content": "Likes tea", "memory_type": "preference"})

    for result in ("2 recorded, 0 kept", "0 recorded, 2 kept"):
        code, output, told = imports.of(text)
        assert (code, output, told) == (0, f"memories: {result}, 0 refused\n", [])
    first, second = imports.memories()
    assert (first["content"], first["tags"]) == (MEMORY["content"], ["deploy", "team"])
    assert first["created_at"] == "2026-04-06T14:12:00.250000Z"
    assert first["updated_at"] == "2026-04-06T14:13:00.000000Z"
    assert (first["memory_type"], first["category"]) == ("fact", "decision")
    assert first["source"] == "laptop"
    assert second["memory_type"] == "preference"


def test_old_and_damaged_exports_of_mcp_memory_service_are_read_as_far_as_they_go(
    imports: Imports,
) -> None:
    code, output, told = imports.of(
        exported(
            {"content": "Old", "tags": "a, b", "created_at_iso": "2026-04-06T14:12:00Z"},
            {"content": "No time", "tags": [], "created_at": None},
            {"content": "Many", "tags": [f"t{number}" for number in range(25)], "created_at": 0},
            {"content": ""},
            {"content": "Bad\u0000 text", "tags": ["a\u0001"], "created_at": 1},
        )
    )

    assert (code, output) == (1, "memories: 4 recorded, 0 kept, 1 refused\n")
    assert told == [
        "memory 2: has no time of creation; now is taken for it",
        "memory 3: of 25 tags the first 20 are kept",
        "memory 4: has no content",
    ]
    memories = imports.memories()
    assert memories[0]["tags"] == ["a", "b"]
    assert memories[0]["created_at"] == "2026-04-06T14:12:00.000000Z"
    assert memories[1]["tags"] == ["untagged"]
    assert (memories[3]["content"], memories[3]["tags"]) == ("Bad text", ["a"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"memories": [', "neither lines of JSON nor one object"),
        ('{\n"content": "a",\n"tags": ["t"]\n}', "must be on a line of its own"),
    ],
)
def test_a_file_of_no_form_that_is_known_is_told(imports: Imports, text: str, told: str) -> None:
    code, output, errors = imports.of(text)

    assert (code, output) == (1, "")
    assert told in errors[0]


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(imports: Imports) -> None:
    lines = "\r\n".join(json.dumps({"content": each, "tags": ["t"]}) for each in ("a", "b"))

    assert imports.of(f"\ufeff{lines}\r\n")[0] == 0
    assert [each["content"] for each in imports.memories()] == ["a", "b"]


def test_relations_are_rewritten_across_the_requests_of_one_file(imports: Imports) -> None:
    imports.of(json.dumps({"content": "Here first", "tags": ["t"]}))
    made = {"created_at": "2026-01-02T03:04:05.000006Z", "agent_id": "maker", "tags": ["t"]}
    count = 2_500
    lines = [
        {
            "id": number,
            "content": str(number),
            "relations": [{"to_id": count + 1 - number, "relation_type": "follows"}],
            **made,
        }
        for number in range(1, count + 1)
    ]

    for result in ("2500 recorded, 0 kept", "0 recorded, 2500 kept"):
        code, output, told = imports.of_lines(lines)
        assert (code, told) == (0, [])
        assert output == f"memories: {result}, 0 refused\nrelations: {result}, 0 refused\n"
    contents = {each["id"]: each["content"] for each in imports.memories()}
    for each in imports.memories()[1:]:
        (relation,) = each["relations"]
        assert int(contents[relation["to_id"]]) == count + 1 - int(each["content"])

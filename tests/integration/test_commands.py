"""The commands, on each place that memories can be: a file, a server, a table."""

import io
import json
import os
import pty
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from local.cli import main
from memories import __version__


class Ran(NamedTuple):
    code: int
    output: str
    told: str

    @property
    def json(self) -> Any:
        return json.loads(self.output)


Run = Callable[..., Ran]


@pytest.fixture
def plain_run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command as it is given."""

    def run(*arguments: str) -> Ran:
        try:
            code = main(arguments)
        except SystemExit as ended:  # as argparse ends
            code = int(ended.code or 0)
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture(params=["file", "server", "table"])
def run(request: pytest.FixtureRequest, plain_run: Run, tmp_path: Path) -> Run:
    """Runs a command on memories that are kept there."""
    where: Sequence[str]
    match request.param:
        case "file":
            where = ["--data", str(tmp_path / "commands.db")]
        case "server":
            where = ["--url", request.getfixturevalue("url")]
        case _:
            request.getfixturevalue("dynamodb_client")
            where = ["--store", "dynamodb", "--table", request.getfixturevalue("table")]
    return lambda *arguments: plain_run(*arguments, *where)


def test_a_memory_is_added_found_shown_edited_and_retired(run: Run) -> None:
    added = run("add", "Prefers tea", "--tag", "drink", "--type", "preference", "--private")
    assert added == (0, "recorded memory 1\n", "")

    found = run("search", "TEA", "--tag", "drink", "--type", "preference", "--sort", "updated_at")
    assert found.output.splitlines()[0] == "ID  TYPE        STATUS  UPDATED     TAGS   CONTENT"
    assert found.output.splitlines()[1].startswith("1   preference  active  ")
    assert found.output.splitlines()[1].endswith("  drink  Prefers tea")
    assert found.told == "1 to 1 of 1\n"

    edited = run("edit", "1", "--content", "Prefers green tea", "--importance", "9")
    assert edited.output == "memory 1 is at version 2\n"
    shown = run("show", "1", "--full").output
    assert "version             2\n" in shown
    assert "importance          9\n" in shown
    assert "is public           no\n" in shown
    assert shown.endswith("\n\nPrefers green tea\n")

    assert run("retire", "1").output == "retired memory 1\n"
    assert run("show", "1") == (1, "", "memories: Memory not found\n")
    assert run("search") == (0, "", "nothing found\n")


def test_programs_get_the_json_of_the_contract(run: Run) -> None:
    memory = run("add", "太郎 likes tea", "--tag", "a", "--json").json
    assert (memory["id"], memory["content"], memory["version"]) == (1, "太郎 likes tea", 1)
    page = run("search", "--json", "--full").json
    assert (page["total"], page["items"][0]["agent_id"]) == (1, "local")
    assert run("show", "1", "--json").json["last_accessed_at"]
    assert run("edit", "1", "--tag", "b", "--tag", "c", "--json").json["tags"] == ["b", "c"]
    assert run("retire", "1", "--json").json["status"] == "deleted"


def test_a_version_that_is_not_expected_stops_a_change(run: Run) -> None:
    run("add", "Prefers tea", "--tag", "a")

    for command in (["edit", "1", "--tag", "b"], ["retire", "1"]):
        stale = run(*command, "--expect", "7")
        assert (stale.code, "is at version 1" in stale.told) == (1, True)
    assert run("edit", "1", "--tag", "b", "--expect", "1").code == 0


def test_what_breaks_a_rule_is_told_with_its_place(run: Run) -> None:
    wrong = run("add", "x" * 8_001, "--tag", "")

    assert (wrong.code, wrong.output) == (2, "")
    assert "content: must have at most 8000 characters" in wrong.told
    assert "tags.0: " in wrong.told
    assert run("search", "--limit", "0").code == 2


def test_agents_are_kept_apart(run: Run) -> None:
    run("add", "Private", "--tag", "a", "--private", "--agent", "Zoë")
    run("add", "Shared", "--tag", "a", "--private", "--share-with", "b", "--agent", "Zoë")

    totals = [run("search", "--json", "--agent", name).json["total"] for name in ("Zoë", "b", "c")]
    assert totals == [2, 1, 0]


def test_memories_are_related_and_their_relations_listed_and_removed(run: Run) -> None:
    run("add", "Old", "--tag", "a")
    run("add", "New", "--tag", "a")

    assert run("relate", "2", "supersedes", "1", "--strength", "0.5").output == (
        "memory 2 supersedes memory 1\n"
    )
    assert run("relations", "1").output.splitlines() == [
        "FROM  TYPE        TO  STRENGTH  AGENT",
        "2     supersedes  1   0.5       local",
    ]
    assert run("relations", "1", "--direction", "out").told == "nothing found\n"
    assert run("relations", "1", "--type", "follows", "--json").json["total"] == 0
    assert run("show", "1", "--full").output.count("related memories    2\n") == 1
    assert run("unrelate", "2", "supersedes", "1").output == "removed the relation\n"
    assert run("unrelate", "2", "supersedes", "1").code == 1
    assert run("relate", "2", "supersedes", "9") == (1, "", "memories: Memory not found\n")
    assert run("relate", "2", "supersedes", "1", "--strength", "2").code == 2


def test_the_tags_in_use_are_listed_most_used_first(run: Run) -> None:
    for tags in (["a"], ["b", "a"]):
        run("add", "text", *(each for tag in tags for each in ("--tag", tag)))

    assert run("tags") == (0, "MEMORIES  TAG\n2         a\n1         b\n", "1 to 2 of 2\n")
    assert run("tags", "--limit", "1", "--json").json["items"] == [{"tag": "a", "count": 2}]


def test_a_text_can_come_from_the_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("Two\nlines\n"))

    assert run("add", "-", "--tag", "a", "--json").json["content"] == "Two\nlines"


def test_pages_say_where_they_go_on(run: Run) -> None:
    for number in range(3):
        run("add", str(number), "--tag", "a")

    assert run("search", "--limit", "2").told == "1 to 2 of 3; go on with --offset 2\n"
    assert run("search", "--offset", "2").told == "3 to 3 of 3\n"
    assert run("search", "--offset", "9").told == "nothing after the 3 that were found\n"


def test_what_is_exported_is_imported_once(run: Run, plain_run: Run, tmp_path: Path) -> None:
    file, data = tmp_path / "all.jsonl", str(tmp_path / "elsewhere.db")
    for number in range(3):
        run("add", str(number), "--tag", "a")
    run("retire", "2")

    assert run("export", str(file)) == (0, "", "exported 3 memories\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.glob("all*")] == ["all.jsonl"]

    done = plain_run("import", str(file), "--data", data)
    assert done == (0, "memories: 3 recorded, 0 kept, 0 refused\n", "")
    assert plain_run("import", str(file), "--data", data, "--json").json["memories"]["kept"] == 3
    assert run("import", str(file), "--json").json["memories"]["kept"] == 3
    assert plain_run("search", "--data", data, "--json").json["total"] == 2


def test_the_lines_that_are_refused_are_told_and_the_others_imported(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "some.jsonl"
    file.write_text('{"content":"a","tags":["t"]}\nnonsense\n\n{"content":"","tags":["t"]}\n')

    done = run("import", str(file))

    assert done.code == 1
    assert done.output == "memories: 1 recorded, 0 kept, 2 refused\n"
    lines = done.told.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["line 2", "line 4"]
    assert lines[1] == "line 4: content: must have at least 1 character"


def test_a_file_that_is_not_there_or_not_ours_to_read_is_told(
    plain_run: Run, tmp_path: Path
) -> None:
    data = ["--data", str(tmp_path / "m.db")]
    missing = plain_run("import", str(tmp_path / "none"), *data)
    assert (missing.code, "No such file" in missing.told) == (1, True)
    nowhere = plain_run("export", str(tmp_path / "no" / "folder"), *data)
    assert (nowhere.code, "cannot write" in nowhere.told) == (1, True)


def test_a_server_that_is_not_there_is_told(plain_run: Run) -> None:
    done = plain_run("search", "--url", "http://127.0.0.1:1")

    assert (done.code, done.output) == (1, "")
    assert done.told.startswith("memories: cannot reach http://127.0.0.1:1")


def test_a_token_goes_only_where_nobody_can_read_it(
    plain_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORIES_TOKEN", "secret-token")

    done = plain_run("search", "--url", "http://memories.example")

    assert (done.code, "refused to send the token" in done.told) == (1, True)
    assert "secret-token" not in done.told + plain_run("search", "--help").output


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["add", "text"],
        ["show", "abc"],
        ["show", "0"],
        ["relate", "1", "Super-Sedes", "2"],
        ["show", str(10**30)],
        ["add", "text", "--tag", "a", "--status", "deleted"],
        ["search", "--sort", "size"],
    ],
)
def test_a_wrong_call_is_told_and_ends_with_2(plain_run: Run, arguments: list[str]) -> None:
    done = plain_run(*arguments)

    assert (done.code, done.output) == (2, "")
    assert "usage: memories" in done.told


def test_the_version_and_the_help_are_given_whatever_the_settings_are(
    plain_run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORIES_PORT", "http")
    assert plain_run("--version") == (0, f"memories {__version__}\n", "")
    assert plain_run("search", "--help").code == 0

    told = "memories: MEMORIES_PORT is 'http'; it must be a whole number\n"
    assert plain_run("search") == (1, "", told)


def test_the_environment_may_choose_moto(plain_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORIES_STORE", "moto")

    assert plain_run("search") == (0, "", "nothing found\n")


def test_what_breaks_a_rule_of_relations_is_told_with_its_place(run: Run) -> None:
    run("add", "Prefers tea", "--tag", "drink")

    told = "memories: to_id: must be another memory than the one that relates to it\n"
    assert run("relate", "1", "follows", "1") == (2, "", told)


def test_an_import_of_nothing_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()

    imported = run("import", str(tmp_path / "empty.jsonl"))
    assert imported == (0, "memories: 0 recorded, 0 kept, 0 refused\n", "")


def test_the_lifecycle_says_when_no_policy_is_set(plain_run: Run, tmp_path: Path) -> None:
    maintained = plain_run("maintain", "--data", str(tmp_path / "memories.db"))

    assert maintained.code == 0
    assert maintained.output == "nothing to do\n"
    assert maintained.told.startswith("no policy is set: see MEMORIES_REMOVE_DELETED_DAYS, ")


def test_the_lifecycle_is_tried_and_run(
    plain_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = ["--data", str(tmp_path / "memories.db")]
    plain_run("add", "One", "--tag", "a", *data)
    plain_run("add", "Two", "--tag", "a", "--importance", "9", *data)
    monkeypatch.setenv("MEMORIES_MAX_MEMORIES", "1")

    tried = plain_run("maintain", "--dry-run", *data)
    assert tried == (0, "memory 1 would be retired\n", "")
    assert plain_run("maintain", *data) == (0, "memory 1 retired\n", "")
    assert plain_run("show", "1", *data).code == 1


def test_what_could_move_a_terminals_cursor_is_not_printed(run: Run) -> None:
    run("add", "a\u009b31m\u202eb\tc\nd", "--tag", "\u009d")

    for command in (["search"], ["show", "1"]):
        output = run(*command).output
        assert "a\N{REPLACEMENT CHARACTER}31m\N{REPLACEMENT CHARACTER}b" in output
        assert not {"\u009b", "\u009d", "\u202e"} & set(output)


def test_wide_characters_are_aligned(run: Run) -> None:
    run("add", "One", "--tag", "太郎")
    run("add", "Two", "--tag", "a")

    lines = run("search").output.splitlines()
    assert lines[1].endswith("太郎  One")
    assert lines[2].endswith("a     Two")


def test_progress_is_shown_on_a_terminal(tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    lines.write_text("".join(f'{{"content":"{n}","tags":["t"]}}\n' for n in range(1_500)))
    terminal, screen = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "local.cli", "import", str(lines), "--data", str(tmp_path / "m.db")],
        stdout=subprocess.PIPE,
        stderr=screen,
        text=True,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(screen)
    shown = b""
    # On Linux, what has no other end any more is an error to read.
    with suppress(OSError):
        while part := os.read(terminal, 65_536):
            shown += part
    output, _ = process.communicate(timeout=30)
    os.close(terminal)

    assert output == "memories: 1500 recorded, 0 kept, 0 refused\n"
    assert b"importing" in shown
    assert b"100%" in shown


def test_the_program_exports_to_a_pipe_and_imports_from_one(tmp_path: Path) -> None:
    def program(*arguments: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "local.cli", *arguments],
            input=text,
            capture_output=True,
            timeout=30,
            check=True,
            env={**os.environ, "MEMORIES_DATA": str(tmp_path / "m.db")},
        )

    line = json.dumps({"content": "太", "tags": ["t"]}).encode()
    program("import", "-", text=line)
    exported = program("export").stdout
    assert json.loads(exported)["content"] == "太"
    assert b"1 kept" in program("import", "-", text=exported).stdout

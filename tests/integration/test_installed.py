"""What ``make serve`` installs is all that the one-machine server and its commands need."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from processes import server_on

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


@pytest.fixture
def bare(tmp_path: Path) -> Mapping[str, str]:
    """The environment of a process that lacks what only the tests have."""
    wanted = distributions_with({"local", "sqlite"})
    absent = [
        name
        for name, distributions in packages_distributions().items()
        if not wanted & {canonicalize_name(each) for each in distributions}
    ]
    assert {"boto3", "botocore", "moto"} <= set(absent)
    folder = tmp_path / "bare"
    folder.mkdir()
    # Python runs this module before all else. What is None there cannot be imported.
    (folder / "sitecustomize.py").write_text(
        f"import sys\nsys.modules.update(dict.fromkeys({absent!r}))\n"
    )
    return {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}


def distributions_with(extras: set[str]) -> set[str]:
    """Return what pip installs for the project with these extras."""
    seen: set[tuple[str, frozenset[str]]] = set()
    to_do = [("memories", frozenset(extras))]
    while to_do:
        name, chosen = each = to_do.pop()
        if each in seen:
            continue
        seen.add(each)
        for needed in map(Requirement, requirements_of(name, chosen)):
            marker = needed.marker
            if not marker or any(marker.evaluate({"extra": extra}) for extra in {"", *chosen}):
                to_do.append((canonicalize_name(needed.name), frozenset(needed.extras)))
    return {name for name, _ in seen}


def requirements_of(name: str, extras: frozenset[str]) -> Sequence[str]:
    """Return what a distribution requires; of others than the project, for all extras."""
    if name != "memories":
        return requires(name) or []
    optional = PROJECT["optional-dependencies"]
    return [*PROJECT["dependencies"], *(each for extra in extras for each in optional[extra])]


def test_a_server_starts_and_answers(bare: Mapping[str, str], tmp_path: Path) -> None:
    with server_on(tmp_path / "memories.db", environment=bare) as server:
        assert server.client.request("GET", "/memories").body["total"] == 0


@pytest.mark.parametrize("command", [["add", "Prefers tea", "--tag", "drink"], ["mcp"]])
def test_a_command_does_what_it_does(
    bare: Mapping[str, str], tmp_path: Path, command: list[str]
) -> None:
    ran = run(bare, *command, "--data", str(tmp_path / "memories.db"))

    assert not ran.stderr
    assert ran.returncode == 0


@pytest.mark.parametrize(("store", "package"), [("dynamodb", "boto3"), ("moto", "moto")])
def test_a_store_whose_packages_are_missing_says_how_to_install_them(
    bare: Mapping[str, str], store: str, package: str
) -> None:
    ran = run(bare, "search", "--store", store)

    assert ran.returncode == 1
    assert ran.stderr == (
        f"memories: {package} is not installed: make serve STORE={store} installs it, and so does "
        f"pip install '.[local,{store}]'\n"
    )


def run(environment: Mapping[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "local.cli", *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )

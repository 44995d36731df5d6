"""One deployment for the whole run: the emulator, the issuer, the stack, and who calls it."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from doors import HttpDoor
from e2e import emulator as emulators
from e2e.deployment import Project, Stack
from e2e.emulator import Emulator
from e2e.tools import Tools, installed
from issuer import AUDIENCE, Issuer, issuing
from template import template


@pytest.fixture(scope="session")
def tools() -> Tools:
    return installed(template()["Parameters"]["Runtime"]["Default"])


@pytest.fixture(scope="session")
def directory() -> Iterator[Path]:
    """A directory that is gone after the run: what is built and unpacked in it is large."""
    with TemporaryDirectory(prefix="memories-e2e-") as directory:
        yield Path(directory)


@pytest.fixture(scope="session")
def emulator(tools: Tools, directory: Path) -> Iterator[Emulator]:
    with emulators.running(tools, directory / "emulator") as emulator:
        yield emulator


@pytest.fixture(scope="session")
def issuer() -> Iterator[Issuer]:
    with issuing() as issuer:
        yield issuer


@pytest.fixture(scope="session")
def project(tools: Tools, emulator: Emulator, directory: Path) -> Project:
    project = Project.copied(tools, emulator, directory / "project")
    project.build()
    return project


@pytest.fixture(scope="session")
def own_issuer(issuer: Issuer) -> dict[str, str]:
    """The parameters of a stack that takes the issuer's tokens."""
    return {"JwtIssuer": issuer.url, "JwtAudience": AUDIENCE}


@pytest.fixture(scope="session")
def stack(project: Project, own_issuer: dict[str, str]) -> Stack:
    return project.deploy("memories", **own_issuer)


@pytest.fixture
def user(request: pytest.FixtureRequest) -> str:
    """A user of the test's own, so that tests do not see what others stored."""
    return f"user of {request.node.name}"


@pytest.fixture
def door(stack: Stack, issuer: Issuer, user: str) -> HttpDoor:
    return HttpDoor(stack.caller(issuer.token(user, "agent-1")))


@pytest.fixture
def other_agent(stack: Stack, issuer: Issuer, user: str) -> HttpDoor:
    """Another agent of the same user."""
    return HttpDoor(stack.caller(issuer.token(user, "agent-2")))


@pytest.fixture
def other_user(stack: Stack, issuer: Issuer, user: str) -> HttpDoor:
    return HttpDoor(stack.caller(issuer.token(f"not the {user}", "agent-1")))

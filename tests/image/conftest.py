"""The image, built once, and the server running in it over a table of its own."""

import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from e2e import emulator as emulators
from e2e.emulator import Emulator
from e2e.tools import installed
from image import buildah
from image.buildah import Container
from image.pip_setup import pip_setup
from issuer import AUDIENCE, Issuer, issuing
from local.table import create_table
from template import TEMPLATE, template

IMAGE = "localhost/memories-mcp:test"
TABLE = "memories"
PUBLIC_URL = "https://memories.example"


@dataclass(frozen=True)
class Served:
    """A server in a container."""

    url: str
    container: Container
    process: subprocess.Popen[str]
    environment: dict[str, str]


@pytest.fixture(scope="session")
def directory() -> Iterator[Path]:
    with TemporaryDirectory(prefix="memories-image-") as directory:
        yield Path(directory)


@pytest.fixture(scope="session")
def image(directory: Path) -> Iterator[str]:
    buildah.set_up()
    # Without the adapter, whose registry need not be within reach.
    base = {"BASE": buildah.base_image()}
    buildah.build(IMAGE, "container", base, pip_setup(directory / "pip.conf"))
    yield IMAGE
    buildah.clean_up(IMAGE)


@pytest.fixture
def container(image: str) -> Iterator[Container]:
    with buildah.container_of(image) as container:
        yield container


@pytest.fixture(scope="session")
def emulator(directory: Path) -> Iterator[Emulator]:
    tools = installed(template()["Parameters"]["Runtime"]["Default"])
    with emulators.running(tools, directory / "emulator") as emulator:
        create_table(emulator.client("dynamodb"), TABLE, TEMPLATE)
        yield emulator


@pytest.fixture(scope="session")
def issuer() -> Iterator[Issuer]:
    with issuing() as issuer:
        yield issuer


@pytest.fixture
def served(container: Container, emulator: Emulator, issuer: Issuer) -> Iterator[Served]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    environment = emulator.variables() | {
        "MEMORIES_ALLOWED_HOSTS": "127.0.0.1:*",
        "MEMORIES_AUDIENCE": AUDIENCE,
        "MEMORIES_ENDPOINT_URL": emulator.url,
        "MEMORIES_ISSUER": issuer.url,
        "MEMORIES_PORT": str(port),
        "MEMORIES_PUBLIC_URL": PUBLIC_URL,
        "MEMORIES_TABLE": TABLE,
    }
    # As the engine would, the environment of the image and its command.
    command = buildah.configuration(IMAGE)["Cmd"]
    with container.start(command, **environment) as process:
        try:
            assert process.stdout
            banner = process.stdout.readline()
            assert banner == f"memories serves {PUBLIC_URL}/mcp on 0.0.0.0 port {port}\n", (
                banner + process.stdout.read()
            )
            yield Served(f"http://127.0.0.1:{port}", container, process, environment)
        finally:
            process.kill()

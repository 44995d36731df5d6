"""Images built and run without an engine: by buildah, on a base that debootstrap makes.

It takes root, and a machine of the Debian family.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from image.pip_setup import PipSetup

ROOT = Path(__file__).parents[2]
# Outside of the checkout: a base is made once for the machine.
STORAGE = Path("/var/tmp/memories-image")
# What is in the base; another set of packages needs another version, to be made anew.
_PACKAGES = "python3,python3-venv,python3-pip,ca-certificates"
_VERSION = 1
# It leaves files behind where it works.
_WORK = STORAGE / "work"
_ENVIRONMENT = {"BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "vfs", "TMPDIR": str(_WORK)}


def _run(*command: str | Path, timeout: float = 300) -> str:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **_ENVIRONMENT},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout.strip()


def _buildah(*arguments: str | Path, timeout: float = 300) -> str:
    return _run(*_command(*arguments), timeout=timeout)


def _command(*arguments: str | Path) -> list[str | Path]:
    return ["buildah", "--root", STORAGE / "root", "--runroot", STORAGE / "run", *arguments]


def set_up() -> None:
    """Make room, and install what is missing of the programs."""
    _WORK.mkdir(parents=True, exist_ok=True)
    missing = [name for name in ("buildah", "debootstrap") if not shutil.which(name)]
    if missing:
        _run("apt-get", "update", "--quiet")
        wait = ("--option", "DPkg::Lock::Timeout=300")
        _run("apt-get", *wait, "install", "--yes", "--no-install-recommends", *missing)


def base_image() -> str:
    """Return the name of an image with Python on this machine's distribution."""
    release = _release()
    name = f"localhost/memories-base:{release}-{_VERSION}"
    if name not in _buildah("images", "--format", "{{.Name}}:{{.Tag}}").split():
        files = STORAGE / "base"
        shutil.rmtree(files, ignore_errors=True)
        options = ("--variant=minbase", f"--include={_PACKAGES}")
        _run("debootstrap", *options, release, files, _mirror(), timeout=600)
        container = _buildah("from", "scratch")
        _buildah("copy", "--quiet", container, files, "/")
        _buildah("commit", "--quiet", "--rm", container, name)
        shutil.rmtree(files)
    return name


def build(name: str, target: str, build_args: Mapping[str, str], pip: PipSetup) -> None:
    """Build a target of the Dockerfile."""
    _buildah(
        "build",
        "--format=docker",
        "--layers=false",
        "--file=functions/mcp_server/Dockerfile",
        f"--target={target}",
        f"--tag={name}",
        f"--secret=id=pip,src={pip.file}",
        *(f"--volume={path}:{path}:ro" for path in pip.paths),
        *(f"--build-arg={key}={value}" for key, value in build_args.items()),
        ".",
        timeout=500,
    )


def configuration(image: str) -> dict[str, Any]:
    inspected: dict[str, Any] = json.loads(_buildah("inspect", "--type=image", image))
    config: dict[str, Any] = inspected["Docker"]["config"]
    return config


@dataclass(frozen=True)
class Container:
    """A container of an image, on the machine's own network."""

    name: str

    def start(self, command: Sequence[str], **environment: str) -> subprocess.Popen[str]:
        variables = [f"--env={key}={value}" for key, value in environment.items()]
        return subprocess.Popen(
            _command("run", *variables, self.name, "--", *command),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **_ENVIRONMENT},
        )

    def run(self, *command: str, **environment: str) -> tuple[int, str]:
        """Run a command to its end, and return its exit code and what it printed."""
        with self.start(command, **environment) as process:
            output, _ = process.communicate(timeout=60)
        return process.returncode, output


@contextmanager
def container_of(image: str) -> Iterator[Container]:
    name = _buildah("from", image)
    try:
        yield Container(name)
    finally:
        _buildah("rm", name)


def clean_up(image: str) -> None:
    """Remove the image, and leave the base for the next time."""
    _buildah("rmi", image)
    shutil.rmtree(_WORK)


def program_in(process: subprocess.Popen[str], executable: str) -> int:
    """Return the id of the process that a container runs, which buildah does not pass signals."""
    waiting = [process.pid]
    while waiting:
        pid = waiting.pop()
        command = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        if command[0] == executable:
            return pid
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            waiting += map(int, children.read_text().split())
    raise AssertionError(f"{executable} does not run")


def _release() -> str:
    lines = Path("/etc/os-release").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)["VERSION_CODENAME"].strip('"')


def _mirror() -> str:
    """Return where this machine's own packages come from."""
    folder = Path("/etc/apt")
    for file in [folder / "sources.list", *sorted(folder.glob("sources.list.d/*"))]:
        for line in file.read_text().splitlines() if file.exists() else []:
            words = line.split()
            if words[:1] in (["URIs:"], ["deb"]):
                return next(word for word in words if "://" in word)
    raise AssertionError("apt has no sources")

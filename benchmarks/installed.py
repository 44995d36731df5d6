"""Programs of others, installed once into a cache that git ignores."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

_CACHE = Path(__file__).parents[1] / ".cache" / "peers"
# In seconds.
_TIMEOUT = 300


class NotInstallable(Exception):
    """A registry did not give what was asked for; the text is its program's."""


def npm_package(name: str, version: str) -> Path:
    """Return a folder with a package from npm in it. Raises NotInstallable."""
    wanted = f"{name}@{version}"
    return _installed(
        f"npm-{name.rpartition('/')[2]}-{version}",
        lambda home: _run(home, "npm", "install", "--no-audit", "--no-fund", wanted),
    )


def python_package(name: str, version: str, with_sqlite_extensions: bool = False) -> Path:
    """Return an environment with a package from PyPI in it. Raises NotInstallable.

    Not every Python can load extensions into SQLite; then another one of this machine is looked
    for.
    """
    python = _with_extensions() if with_sqlite_extensions else sys.executable

    def install(home: Path) -> None:
        _run(home, python, "-m", "venv", str(home))
        pip = (str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check")
        _run(home, *pip, "install", "--quiet", f"{name}=={version}")

    return _installed(f"pypi-{name}-{version}-py{platform.python_version()}", install)


def _with_extensions() -> str:
    code = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"
    for python in (sys.executable, "/usr/bin/python3", shutil.which("python3")):
        if python and Path(python).exists():
            done = subprocess.run([python, "-c", code], capture_output=True, check=False)
            if done.returncode == 0:
                return python
    raise NotInstallable("no Python here can load extensions into SQLite")


def _installed(name: str, install: Callable[[Path], None]) -> Path:
    home = _CACHE / name
    whole = home / "whole"
    if not whole.exists():
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        install(home)
        whole.touch()
    return home


def _run(folder: Path, *command: str) -> None:
    try:
        subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=True,
            env={**os.environ, "NO_COLOR": "1"},
        )
    except FileNotFoundError as error:
        raise NotInstallable(f"{command[0]} is not there") from error
    except subprocess.TimeoutExpired as error:
        raise NotInstallable(f"{command[0]} took more than {_TIMEOUT} s") from error
    except subprocess.CalledProcessError as error:
        raise NotInstallable(f"{command[0]}: {error.stderr.strip()[-300:]}") from error

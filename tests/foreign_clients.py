"""Clients of others, installed once into a cache that git ignores.

What is installed is named with exact versions in ``mcp_surface/clients``; a change there makes a
new installation. Node comes with them: the conformance suite needs a newer one than many have.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

CLIENTS = Path(__file__).parent / "mcp_surface" / "clients"
_CACHE = Path(__file__).parents[1] / ".cache" / "clients"
# A first installation fetches some hundred megabytes, in seconds.
_INSTALL_TIMEOUT = 300


def npm_home() -> Path:
    """Return a folder with the npm packages and our scripts, which find them from there."""
    home = _installed("npm", ["package.json", "package-lock.json"], _install_npm)
    for script in CLIENTS.glob("*.mjs"):
        shutil.copy(script, home)
    return home


def node(home: Path) -> str:
    return str(home / "node_modules" / "node" / "bin" / "node")


def fastmcp_python() -> str:
    """Return the Python of an environment that holds fastmcp."""
    return str(_installed("fastmcp", ["fastmcp.txt"], _install_fastmcp) / "bin" / "python")


def _install_npm(home: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(CLIENTS / name, home)
    _run(["npm", "ci", "--no-audit", "--no-fund"], home)


def _install_fastmcp(home: Path) -> None:
    _run([sys.executable, "-m", "venv", str(home)], home)
    pip = [str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install"]
    quickly = ["--quiet", "--no-compile", "--no-deps"]
    _run([*pip, *quickly, "--requirement", str(CLIENTS / "fastmcp.txt")], home)


def _installed(name: str, sources: list[str], install: Callable[[Path], None]) -> Path:
    state = "".join((CLIENTS / source).read_text(encoding="utf-8") for source in sources)
    state += f"{sys.version} {platform.platform()}"
    home = _CACHE / f"{name}-{hashlib.sha256(state.encode()).hexdigest()[:12]}"
    if not home.exists():
        # Under another name until it is whole, so that what broke off is not taken for it.
        part = home.with_name(f"{home.name}.{os.getpid()}")
        part.mkdir(parents=True)
        try:
            install(part)
            part.rename(home)
        except OSError:
            if not home.exists():  # Another run may have been faster.
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return home


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_INSTALL_TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

"""The AWS SAM command line, cfn-lint and the emulator, in a virtual environment of their own.

They are heavy, and pin versions of what the service pins otherwise.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
REQUIREMENTS = Path(__file__).with_name("requirements.txt")

# Nothing of the developer's own: neither another AWS account nor modules that the layer lacks.
_KEPT = re.compile(r"(?!AWS_|PYTHON|MEMORIES_|VIRTUAL_ENV).*")


@dataclass(frozen=True)
class Tools:
    """Programs of one virtual environment, which runs the functions too."""

    home: Path

    @property
    def bin(self) -> Path:
        return self.home / "bin"

    @property
    def runtime(self) -> str:
        """The name that Lambda has for the Python of the environment."""
        return f"python{_version_of(self.bin / 'python')}"

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment to start the programs in."""
        kept = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        return kept | {"PATH": path, "SAM_CLI_TELEMETRY": "0", **more}


def installed(template_runtime: str) -> Tools:
    """Return the tools, installed once for each state of the requirements.

    They run on the template's runtime where this machine has it, else on the Python of the tests.
    """
    home = ROOT / ".venv-sam"
    stamp = home / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != REQUIREMENTS.read_text():
        shutil.rmtree(home, ignore_errors=True)
        subprocess.run([_interpreter(template_runtime), "-m", "venv", home], check=True)
        install = ["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
        subprocess.run([home / "bin/python", *install, "-r", REQUIREMENTS], check=True)
        shutil.copy(REQUIREMENTS, stamp)
    return Tools(home)


def _interpreter(runtime: str) -> str:
    wanted = runtime.removeprefix("python")
    pyenv = Path.home().glob(f".pyenv/versions/{wanted}.*/bin/python")
    for candidate in [shutil.which(runtime), *sorted(map(str, pyenv), reverse=True)]:
        # A shim can be there for a Python that is not.
        if candidate and _version_of(candidate) == wanted:
            return candidate
    return sys.executable


def _version_of(python: str | Path) -> str:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    asked = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return asked.stdout.strip()

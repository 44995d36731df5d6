"""How pip is set up on this machine, to be used in a build too."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PipSetup:
    """A configuration file of pip's, and the paths that it names."""

    file: Path
    paths: Sequence[Path]


def pip_setup(file: Path) -> PipSetup:
    """Write the machine's configuration, variables of the environment included, into a file."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    options = {}
    # What the environment says overrides the files.
    for line in sorted(listed.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        options[name.rpartition(".")[2]] = str(ast.literal_eval(value))
    file.write_text("[global]\n" + "".join(f"{k} = {v}\n" for k, v in options.items()))
    return PipSetup(file, sorted({path for text in options.values() for path in _paths(text)}))


def _paths(text: str) -> Iterator[Path]:
    for word in text.split():
        # An index of files has its files beside it.
        path = Path(word.removeprefix("file://"))
        path = path.parent if word.startswith("file://") else path
        if path.is_absolute() and len(path.parts) > 2 and path.exists():
            yield path

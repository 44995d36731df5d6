"""A process that works on a data file, killed at many moments; ``soak.kills`` is the program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from soak.kills import WORK

POINTS = 12


@pytest.mark.soak
def test_a_kill_at_any_moment_leaves_a_state_that_whole_operations_give(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "soak.kills", str(tmp_path), "--points", str(POINTS)],
        capture_output=True,
        text=True,
        timeout=280,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    told = [json.loads(line) for line in run.stdout.splitlines()]
    assert [each["work"] for each in told] == list(WORK)
    assert sum(each["midway"] for each in told) > len(WORK)

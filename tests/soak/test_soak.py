"""A soak in short; ``make soak`` runs it for minutes."""

import pytest

from soak.run import Soak, run

SHORT = [
    pytest.param(Soak("sqlite", seconds=7, kill_every=2), id="sqlite, killed"),
    pytest.param(Soak("moto", seconds=6, most_memories=40), id="dynamodb, failing"),
]


@pytest.mark.soak
@pytest.mark.parametrize("soak", SHORT)
def test_what_is_acknowledged_is_there_once_whatever_fails_meanwhile(
    soak: Soak, capsys: pytest.CaptureFixture[str]
) -> None:
    report = run(soak)

    with capsys.disabled():
        print("", *report.lines(), sep="\n")
    assert report.violations == []
    assert report.kills or report.faults
    assert report.counts["memories"]

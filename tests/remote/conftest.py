"""An issuer and the remote server that takes its tokens."""

from collections.abc import Iterator
from typing import cast

import pytest

from http_client import Switchboard
from issuer import Issuer, issuing
from memories.service import MemoryService
from remote.server import Remote, remote_over


@pytest.fixture(scope="session")
def issuer() -> Iterator[Issuer]:
    with issuing() as issuer:
        yield issuer


@pytest.fixture
def own_issuer() -> Iterator[Issuer]:
    """An issuer for a test that changes what it publishes."""
    with issuing() as issuer:
        yield issuer


@pytest.fixture(scope="session")
def running_remote(issuer: Issuer) -> Iterator[tuple[Switchboard, Remote]]:
    switchboard = Switchboard()
    with remote_over(cast("MemoryService", switchboard), issuer) as remote:
        yield switchboard, remote


@pytest.fixture
def remote(running_remote: tuple[Switchboard, Remote], service: MemoryService) -> Remote:
    """A server over this test's service, which takes the issuer's tokens."""
    switchboard, remote = running_remote
    switchboard.service = service
    return remote


@pytest.fixture
def token(issuer: Issuer) -> str:
    return issuer.token("ann", "agent")

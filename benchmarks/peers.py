"""What a user would pick instead: installed from a registry, driven through its own door."""

from contextlib import AsyncExitStack
from pathlib import Path

import reference_server
from installed import NotInstallable
from subjects import Subject

PEERS = (reference_server,)


async def subjects(
    records: int, folder: Path, stack: AsyncExitStack
) -> tuple[list[Subject], list[str]]:
    """Start the peers on the seeded records, and say which could not be started and why."""
    found: list[Subject] = []
    notes = []
    for peer in PEERS:
        try:
            found += await peer.subjects(records, folder, stack)
        except (NotInstallable, TimeoutError, ConnectionError) as error:
            notes.append(f"{peer.PACKAGE} {peer.VERSION} was not measured: {error}")
    return found, notes

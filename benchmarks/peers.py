"""What a user would pick instead: installed from a registry, driven through its own door."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import reference_server
import vector_server
from installed import NotInstallable
from subjects import Subject


async def subjects(
    sizes: Sequence[int], folder: Path, stack: AsyncExitStack
) -> tuple[list[Subject], list[str]]:
    """Start the peers on the seeded records, and say which could not be started and why.

    The one takes long to be given its records, and so has the fewest; the other the middle number.
    """
    found: list[Subject] = []
    notes = []
    peers = ((reference_server, sizes[len(sizes) // 2]), (vector_server, sizes[0]))
    for peer, records in peers:
        try:
            found += await peer.subjects(records, folder, stack)
        except (NotInstallable, TimeoutError, ConnectionError) as error:
            notes.append(f"{peer.PACKAGE} {peer.VERSION} was not measured: {error}")
    return found, notes

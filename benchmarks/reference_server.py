"""The reference memory server, from npm, over its input and output."""

import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import seed
import servers
from installed import npm_package
from operations import CREATE, RARE, READ, Operation
from results import REFERENCE
from subjects import Subject, over_stdio
from tool_calls import Stdio

PACKAGE = "@modelcontextprotocol/server-memory"
VERSION = "2026.8.31"

_SEEDED_AT_ONCE = 2_500


async def subjects(records: int, folder: Path, stack: AsyncExitStack) -> list[Subject]:
    """Start it on the seeded records, each an entity with one observation."""
    home = npm_package(PACKAGE, VERSION)
    program = home / "node_modules" / PACKAGE / "dist" / "index.js"
    data = folder / "reference.jsonl"
    started = await stack.enter_async_context(
        servers.process("node", str(program), environment={"MEMORY_FILE_PATH": str(data)})
    )
    host = Stdio(started)
    await host.start()
    entities = [
        _entity(f"memory {n}", draft.memory_type, draft.content)
        for n, draft in enumerate(seed.drafts(records))
    ]
    for start in range(0, records, _SEEDED_AT_ONCE):
        part = entities[start : start + _SEEDED_AT_ONCE]
        await host.call("create_entities", {"entities": part})
    found: list[Subject] = []
    for operation in _operations(records):
        found += over_stdio(records, operation, REFERENCE, host)
    return found


def _operations(records: int) -> Sequence[Operation]:
    source = random.Random(13)
    names = [f"memory {n}" for n in source.sample(range(records), min(records, 600))]
    # Enough for every round: a name that is there already is not created again.
    created = [_entity(f"new {n}", "fact", seed.content(source)) for n in range(20_000)]
    return [
        Operation(RARE, [("search_nodes", {"query": seed.RARE})], []),
        Operation(READ, [("open_nodes", {"names": [name]}) for name in names], []),
        Operation(
            CREATE,
            [("create_entities", {"entities": [entity]}) for entity in created],
            [],
            most=100,
        ),
    ]


def _entity(name: str, kind: str, content: str) -> dict[str, object]:
    return {"name": name, "entityType": kind, "observations": [content]}

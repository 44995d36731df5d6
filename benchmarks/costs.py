"""What each operation costs in DynamoDB: requests, units, and dollars for a million.

The store does each operation on an emulator, and the units of its requests are counted by the rules
from the items that they read and write.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import boto3
from moto import mock_aws
from mypy_boto3_dynamodb import DynamoDBClient

import seed
from local.table import create_table
from memories.models import MemoryDraft, MemoryPatch, MemoryQuery, PermissionsPatch, PrimingQuery
from memories.principal import SCOPES, Principal
from memories.relation_models import RelationDraft, RelationQuery
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.dynamodb.keys import idempotency_table_of
from memories.tag_models import TagQuery
from meter import Meter, Quick
from units import Units

TEMPLATE = Path(__file__).parents[1] / "template.yaml"
REGION = "us-east-1"
TABLE = "memories"

LENGTHS = (100, 500, 2_000, 8_000)
"""Characters of content."""
# Those of the goal, and of what grows.
USUAL = 300

PAGE, TEXT_PAGE = "page of ten", "page of ten, q"
# The one that leaves a snapshot, where the memories are many. The others are measured after it.
FIRST_PAGE = "page of ten, the first time"
_TAGS = ["drink", "preference"]
# As long as the identifiers that an issuer gives.
_PRINCIPAL = Principal(
    "00000000-0000-4000-8000-000000000000", "0123456789abcdef0123456789", frozenset(SCOPES)
)

Use = Callable[[MemoryService], object]

_READING: dict[str, Use] = {
    "read one": lambda service: service.inspect(_PRINCIPAL, 1),
    FIRST_PAGE: lambda service: service.search(_PRINCIPAL, MemoryQuery(sort="updated_at")),
    PAGE: lambda service: service.search(_PRINCIPAL, MemoryQuery(sort="updated_at")),
    "page of ten in full": lambda service: service.search(
        _PRINCIPAL, MemoryQuery(sort="updated_at"), full=True
    ),
    "page of ten, type": lambda service: service.search(
        _PRINCIPAL, MemoryQuery(sort="updated_at", memory_type="preference")
    ),
    "page of ten, tag": lambda service: service.search(
        _PRINCIPAL, MemoryQuery(sort="updated_at", tag=seed.RARE_TAG)
    ),
    TEXT_PAGE: lambda service: service.search(
        _PRINCIPAL, MemoryQuery(sort="updated_at", q=seed.RARE)
    ),
    "prime": lambda service: service.prime(_PRINCIPAL, PrimingQuery()),
    "list the tags": lambda service: service.tags.listed(_PRINCIPAL, TagQuery()),
}


class User:
    """One user's memories on an emulator, of equal length, and what using them costs."""

    def __init__(self, client: DynamoDBClient, length: int, memories: int) -> None:
        self._length = length
        self._seeding = MemoryService(DynamoDBStore(client, TABLE))
        self.meter = Meter(client)
        self._service = MemoryService(DynamoDBStore(self.meter.as_client(), TABLE))
        self._made = 0
        self.grow(memories)

    def grow(self, memories: int) -> None:
        """Add memories until there are so many, every tenth with a text that is searched for."""
        while self._made < memories:
            count = min(seed.BATCH, memories - self._made)
            drafts = [self._draft(self._made + n) for n in range(count)]
            self._seeding.record_batch(_PRINCIPAL, drafts)
            self._made += count

    def reading(self) -> dict[str, Units]:
        """Return what those operations cost that leave the memories as they are."""
        found = {name: used for name, used, _ in self._costs(_READING)}
        again = {name: used for name, used, _ in self._costs(_READING)}
        return again | {FIRST_PAGE: found[FIRST_PAGE]}

    def writing(self) -> dict[str, Units]:
        """Return what the others cost."""
        return {name: used for name, used, _ in self._costs(self._writing())}

    def checked(self) -> list[tuple[str, Units, Units]]:
        """Return what every operation costs, and what the emulator reports of it."""
        return [*self._costs(self._writing()), *self._costs(_READING)]

    def _costs(self, uses: Mapping[str, Use]) -> list[tuple[str, Units, Units]]:
        found = []
        for name, use in uses.items():
            self.meter.reset()
            use(self._service)
            found.append((name, self.meter.used, self.meter.reported))
        return found

    def _writing(self) -> dict[str, Use]:
        changed = MemoryPatch(content=self._draft(2).content[::-1])
        batch = [self._draft(n) for n in range(seed.BATCH)]
        return {
            "record": lambda service: service.record(_PRINCIPAL, self._draft(1)),
            "record with an idempotency key": lambda service: service.recording.one(
                _PRINCIPAL, self._draft(1), key="a key of some twenty"
            ),
            "record a batch of 25": lambda service: service.record_batch(_PRINCIPAL, batch),
            "change the content": lambda service: service.revise(_PRINCIPAL, 2, changed),
            "change nothing": lambda service: service.revise(_PRINCIPAL, 2, changed),
            "relate": lambda service: service.relations.relate(
                _PRINCIPAL, 3, "follows", 4, RelationDraft()
            ),
            "relate the same again": lambda service: service.relations.relate(
                _PRINCIPAL, 3, "follows", 4, RelationDraft(strength=0.5)
            ),
            "list the relations of one": lambda service: service.relations.listed(
                _PRINCIPAL, 3, RelationQuery()
            ),
            "take a relation away": lambda service: service.relations.unrelate(
                _PRINCIPAL, 3, "follows", 4
            ),
            "share": lambda service: service.share(
                _PRINCIPAL, 2, PermissionsPatch(is_public=False)
            ),
            "retire": lambda service: service.retire(_PRINCIPAL, 2),
        }

    def _draft(self, number: int) -> MemoryDraft:
        rare = number % 10 == 0
        text = f"{seed.RARE if rare else 'ordinary'} {number} ".ljust(self._length, "x")
        tags = [*_TAGS, seed.RARE_TAG] if rare else _TAGS
        kinds = seed.TYPES
        return MemoryDraft(
            content=text[: self._length], tags=tags, memory_type=kinds[number % len(kinds)]
        )


@contextmanager
def moto_client() -> Iterator[DynamoDBClient]:
    """Yield a client of an emulator in this process, with the table of the template."""
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    os.environ.update(keys)
    with mock_aws():
        client = boto3.client("dynamodb", region_name=REGION)
        create_tables(client)
        yield Quick(client).as_client()


def create_tables(client: DynamoDBClient) -> None:
    """Create the tables of the template."""
    create_table(client, TABLE, TEMPLATE)
    create_table(client, idempotency_table_of(TABLE), TEMPLATE, "IdempotencyTable")


def by_length(lengths: tuple[int, ...], memories: int) -> dict[int, dict[str, Units]]:
    """Return the costs of every operation for each length of content."""
    found = {}
    for length in lengths:
        with moto_client() as client:
            user = User(client, length, memories)
            found[length] = user.writing() | user.reading()
    return found


def by_number(sizes: tuple[int, ...]) -> dict[int, dict[str, Units]]:
    """Return the costs of every operation for each number of memories of a user."""
    found = {}
    with moto_client() as client:
        user = User(client, USUAL, 0)
        for size in sizes:
            user.grow(size)
            found[size] = user.reading()
        found[sizes[-1]] |= user.writing()
    return found


def as_rows(found: dict[int, dict[str, Units]], key: str) -> list[dict[str, Any]]:
    """Return costs as rows of a table."""
    return [
        {key: number, "operation": name, **asdict(units), "dollars": round(units.dollars, 2)}
        for number, costs in found.items()
        for name, units in costs.items()
    ]

"""What each operation costs in DynamoDB, by the rules that DynamoDB counts by.

Prints the table of docs/deploy.md. The sizes are those of real items; the units follow from them:
a write unit for each kilobyte begun, a read unit for every four of them, half of that where a read
need not be consistent, and double for writes in a transaction. An index is written when an
attribute that it holds changes, twice when its key does: once out of the old place, once into the
new one.
"""

import math
from dataclasses import dataclass

from memories.stores.dynamodb.items import Item, item_of
from memories.stores.dynamodb.tokens import READ, WRITE, new_token
from memories.stores.port import Record

# Dollars for a million units: us-east-1, on demand, standard table class.
WRITE_PRICE = 0.625
READ_PRICE = 0.125

INDEXES = {
    "by_created_at": "created_sort",
    "by_updated_at": "updated_sort",
    "by_last_accessed_at": "accessed_sort",
}
PROJECTED = (
    *("id", "status", "memory_type", "tags"),
    *("agent_id", "is_public", "shared_with_agents"),
)
NEWEST = 25


@dataclass(frozen=True)
class Cost:
    writes: float = 0
    reads: float = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.writes + other.writes, self.reads + other.reads)

    def __mul__(self, times: int) -> "Cost":
        return Cost(self.writes * times, self.reads * times)

    @property
    def dollars(self) -> float:
        return self.writes * WRITE_PRICE + self.reads * READ_PRICE


@dataclass(frozen=True)
class Sizes:
    """Bytes of a memory's item, and of its entry in an index."""

    item: int
    entry: int

    @classmethod
    def of(cls, content: str, tags: tuple[str, ...]) -> "Sizes":
        moment = "2026-04-06T14:12:00.000000Z"
        record = Record(
            id=1_000,
            content=content,
            tags=tags,
            created_at=moment,
            updated_at=moment,
            last_accessed_at=moment,
            memory_type="preference",
            status="active",
            version=1,
            agent_id="0123456789abcdef0123456789",
            importance=5,
            category=None,
            source=None,
            access_count=1,
            is_public=True,
            read_only=False,
            shared_with_agents=(),
        )
        user = "00000000-0000-4000-8000-000000000000"
        item = item_of(user, record) | new_token(WRITE) | new_token(READ)
        held = {"pk", "sk", "accessed_sort", *PROJECTED}
        return cls(_bytes(item), _bytes({name: item[name] for name in held}))

    @property
    def written(self) -> int:
        return math.ceil(self.item / 1024)

    @property
    def entry_written(self) -> int:
        return math.ceil(self.entry / 1024)

    def create(self) -> Cost:
        return Cost(1 + self.written + len(INDEXES) * self.entry_written)

    def batch(self, count: int) -> Cost:
        return Cost(1) + Cost(2 * self.written + len(INDEXES) * self.entry_written) * count

    def with_key(self, batch: Cost) -> Cost:
        # What is kept of the request is put in the same transaction; it is well below a kilobyte.
        return batch + Cost(2)

    def refresh(self) -> Cost:
        return Cost(self.written + 2 * self.entry_written)

    def revise_content(self) -> Cost:
        return self.revise_nothing() + Cost(self.written + 2 * self.entry_written)

    def revise_nothing(self) -> Cost:
        return Cost(0, self._read(self.item))

    def retire(self) -> Cost:
        return Cost(self.written + len(INDEXES) * self.entry_written)

    def share(self) -> Cost:
        return Cost(self.written + len(INDEXES) * self.entry_written)

    def relate(self) -> Cost:
        # A condition on an item counts as a write of it; a relation and its mirror are small.
        return Cost(2 * (self.written + self.written + 1 + 1))

    def supersede(self) -> Cost:
        # The status is in every index, and one of them has the time of the update as its key.
        return self.relate() + Cost((len(INDEXES) + 1) * self.entry_written)

    def unrelate(self) -> Cost:
        return self.relate() + Cost(0, 1)

    def relations(self, count: int) -> Cost:
        return Cost(0, 1 + 1 + (1 + count) * self._read(self.item))

    def full_page(self, rows: int, memories: int, related: int) -> Cost:
        each = Cost(0, 1 + 1 + related * self._read(self.item))
        return self.page(rows, memories) + each * rows

    def tags(self, memories: int) -> Cost:
        return Cost(0, self._read(self.entry * memories) / 2)

    def page(self, rows: int, memories: int) -> Cost:
        walk = Cost(0, self._read(self.entry * memories) / 2)
        newest = Cost(0, self._read(self.item * min(NEWEST, memories)))
        return walk + newest + self._rows(rows)

    def text_page(self, rows: int, memories: int) -> Cost:
        return Cost(0, self._read(self.item * memories)) + self._rows(rows)

    def _rows(self, rows: int) -> Cost:
        return (Cost(0, self._read(self.item)) + self.refresh()) * rows

    @staticmethod
    def _read(size: int) -> int:
        return math.ceil(size / 4096)


def _bytes(item: Item) -> int:
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(attribute: Item) -> int:
    ((kind, value),) = attribute.items()
    if kind == "S":
        return len(value.encode())
    if kind == "N":
        return math.ceil(len(value) / 2) + 1
    if kind == "BOOL":
        return 1
    assert kind == "L"
    return 3 + sum(1 + _value_bytes(each) for each in value)


def operations(sizes: Sizes) -> dict[str, Cost]:
    return {
        "record": sizes.create(),
        "record with an idempotency key": sizes.with_key(sizes.batch(1)),
        "record a batch of 25": sizes.batch(25),
        "read one": sizes.refresh(),
        "change the content": sizes.revise_content(),
        "change nothing": sizes.revise_nothing(),
        "retire": sizes.retire(),
        "share": sizes.share(),
        "relate": sizes.relate(),
        "relate and invalidate": sizes.supersede(),
        "take a relation away": sizes.unrelate(),
        "list 10 relations": sizes.relations(10),
        "list the tags of 1,000": sizes.tags(1_000),
        "a page of 10 out of 100": sizes.page(10, 100),
        "a page of 10 out of 1,000": sizes.page(10, 1_000),
        "a page of 10 out of 10,000": sizes.page(10, 10_000),
        "a page of 10 out of 1,000 in full, each with 3 relations": sizes.full_page(10, 1_000, 3),
        "a page of 100 out of 1,000": sizes.page(100, 1_000),
        "search 1,000 for a text": sizes.text_page(10, 1_000),
        "search 10,000 for a text": sizes.text_page(10, 10_000),
    }


def main() -> None:
    small = Sizes.of("x" * 200, ("drink", "preference"))
    large = Sizes.of("x" * 8_000, tuple(f"a tag of thirty characters {n:03}" for n in range(20)))
    print(f"small: {small.item:,} bytes, {small.entry} in an index;", end=" ")
    print(f"large: {large.item:,} bytes, {large.entry} in an index\n")
    print("| operation | writes | reads | $ | writes, large | reads, large | $, large |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for (name, cost), large_cost in zip(
        operations(small).items(), operations(large).values(), strict=True
    ):
        cells = [
            f"{each.writes:,.0f} | {each.reads:,.1f} | {each.dollars:,.2f}"
            for each in (cost, large_cost)
        ]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()

"""Capacity units by the rules that DynamoDB counts by.

A write unit for each kilobyte begun of the item, before or after, whichever is larger; as many more
for each index whose entry changes, twice where its key does: once out of the old place, once into
the new one. A read unit for each four kilobytes begun, half of that where a read need not be
consistent. In a transaction the table's writes count double.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Item = Mapping[str, Any]

# Dollars for a million units: us-east-1, on demand, standard table class.
WRITE_PRICE = 0.625
READ_PRICE = 0.125


@dataclass(frozen=True, slots=True)
class Units:
    """What something costs: requests, and the units that they use."""

    calls: int = 0
    reads: float = 0
    writes: float = 0

    def __add__(self, other: "Units") -> "Units":
        return Units(self.calls + other.calls, self.reads + other.reads, self.writes + other.writes)

    @property
    def dollars(self) -> float:
        """For a million of them."""
        return self.writes * WRITE_PRICE + self.reads * READ_PRICE


@dataclass(frozen=True, slots=True)
class Index:
    """A global secondary index: its keys, and the attributes that it holds, keys included."""

    keys: tuple[str, ...]
    # None is for all attributes.
    held: frozenset[str] | None

    def entry(self, item: Item | None) -> Item | None:
        """Return what the index holds of an item, or None: items without its keys are not in it."""
        if item is None or not all(key in item for key in self.keys):
            return None
        if self.held is None:
            return item
        return {name: value for name, value in item.items() if name in self.held}


def size(item: Item) -> int:
    """Return the bytes of an item."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def write_units(
    before: Item | None, after: Item | None, indexes: Iterable[Index], times: int = 1
) -> float:
    """Return what a write uses, that of the table counted ``times``."""
    larger = max(size(before or {}), size(after or {}), 1)
    return times * _kilobytes(larger) + sum(
        _entry_units(index, index.entry(before), index.entry(after)) for index in indexes
    )


def read_units(sizes: Sequence[int], consistent: bool) -> float:
    """Return what one read of so many bytes uses; of nothing, it uses the least there is."""
    return max(1, math.ceil(sum(sizes) / 4096)) * (1 if consistent else 0.5)


def _entry_units(index: Index, before: Item | None, after: Item | None) -> int:
    if before == after:
        return 0
    if before is None or after is None:
        return _kilobytes(size(before or after or {}))
    if all(before[key] == after[key] for key in index.keys):
        return _kilobytes(max(size(before), size(after)))
    return _kilobytes(size(before)) + _kilobytes(size(after))


def _kilobytes(count: int) -> int:
    return math.ceil(count / 1024)


def _value_size(attribute: Mapping[str, Any]) -> int:
    ((kind, value),) = attribute.items()
    return _SIZES[kind](value)


_SIZES: dict[str, Callable[[Any], int]] = {
    "S": lambda text: len(text.encode()),
    "N": lambda number: math.ceil(len(number.lstrip("-").replace(".", "")) / 2) + 1,
    "B": len,
    "BOOL": lambda _: 1,
    "NULL": lambda _: 1,
    "SS": lambda texts: sum(len(text.encode()) for text in texts),
    "L": lambda values: 3 + sum(1 + _value_size(each) for each in values),
    "M": lambda values: 3 + len(values) + size(values),
}

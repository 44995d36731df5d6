"""Keys never meet, and sort as the contract says."""

from hypothesis import given
from hypothesis import strategies as st

from memories.fields import MAX_ID, timestamp
from memories.principal import MAX_NAME_LENGTH
from memories.stores.dynamodb import keys

users = st.text(
    st.one_of(st.sampled_from("#/% 0:MEUSR-"), st.characters(exclude_categories=["Cs"])),
    min_size=1,
    max_size=MAX_NAME_LENGTH,
)
ids = st.integers(1, MAX_ID)
times = st.none() | st.datetimes().map(lambda moment: timestamp(moment) + "Z")


@given(users, users)
def test_two_users_never_share_a_partition(one: str, other: str) -> None:
    assert (keys.partition(one) == keys.partition(other)) == (one == other)


def test_texts_that_only_look_alike_are_two_users() -> None:
    assert keys.partition("Zo\u00eb") != keys.partition("Zoe\u0308")


def test_the_longest_user_id_fits_in_a_partition_key() -> None:
    assert len(keys.partition("\U0001f9e0" * MAX_NAME_LENGTH).encode()) <= 2048


@given(ids)
def test_a_memory_is_never_mistaken_for_the_counter(memory_id: int) -> None:
    assert keys.memory(memory_id).startswith(keys.MEMORY_PREFIX)
    assert not keys.COUNTER.startswith(keys.MEMORY_PREFIX)


@given(ids, ids)
def test_memories_sort_by_id(one: int, other: int) -> None:
    assert (keys.memory(one) < keys.memory(other)) == (one < other)


@given(times, ids, times, ids)
def test_sort_values_are_by_time_then_id_and_never_comes_first(
    at: str | None, memory_id: int, other_at: str | None, other_id: int
) -> None:
    before = (at or "", memory_id) < (other_at or "", other_id)
    one, other = keys.moment(at, memory_id), keys.moment(other_at, other_id)
    assert (one < other) == before
    # DynamoDB compares bytes.
    assert (one.encode() < other.encode()) == before


@given(times, ids)
def test_the_id_is_read_back_from_every_key(at: str | None, memory_id: int) -> None:
    assert keys.id_in(keys.memory(memory_id)) == memory_id
    assert keys.id_in(keys.moment(at, memory_id)) == memory_id

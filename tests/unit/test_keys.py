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


types = st.from_regex("[a-z][a-z_]{0,31}", fullmatch=True)
relations = st.tuples(ids, types, ids)


@given(relations, relations)
def test_two_relations_never_share_a_key_nor_do_their_mirrors(
    one: tuple[int, str, int], other: tuple[int, str, int]
) -> None:
    assert (keys.relation(*one) == keys.relation(*other)) == (one == other)
    assert (keys.mirror(*one) == keys.mirror(*other)) == (one == other)
    assert keys.relation(*one) != keys.mirror(*other)


@given(ids, relations, relations)
def test_the_relations_of_a_memory_are_together_and_sort_by_type_then_by_id(
    memory_id: int, one: tuple[int, str, int], other: tuple[int, str, int]
) -> None:
    first, second = keys.relation(memory_id, *one[1:]), keys.relation(memory_id, *other[1:])
    assert (first < second) == (one[1:] < other[1:])
    prefix = keys.relations_of(keys.RELATION_PREFIX, memory_id, None)
    assert first.startswith(prefix)
    assert keys.relation(*one).startswith(prefix) == (one[0] == memory_id)
    typed = keys.relations_of(keys.RELATION_PREFIX, memory_id, one[1])
    assert second.startswith(typed) == (one[1] == other[1])


@given(users, users)
def test_two_agents_never_share_a_key(one: str, other: str) -> None:
    assert (keys.agent(one) == keys.agent(other)) == (one == other)
    assert (keys.erasure(one) == keys.erasure(other)) == (one == other)


def test_the_longest_agent_id_fits_in_a_sort_key() -> None:
    assert len(keys.agent("\U0001f9e0" * MAX_NAME_LENGTH).encode()) <= 1024


@given(users, ids, users, ids)
def test_two_memories_never_share_a_log(
    one: str, memory_id: int, other: str, other_id: int
) -> None:
    same = (one, memory_id) == (other, other_id)
    assert (keys.log(one, memory_id) == keys.log(other, other_id)) == same
    assert keys.log(one, memory_id) != keys.partition(other)


@given(ids, st.from_regex("[a-z][a-z_]{0,31}", fullmatch=True), ids)
def test_a_relation_and_its_mirror_are_found_from_one_another(
    one: int, relation_type: str, other: int
) -> None:
    relation, mirror = (
        keys.relation(one, relation_type, other),
        keys.mirror(one, relation_type, other),
    )
    assert (keys.twin(relation), keys.twin(mirror)) == (mirror, relation)

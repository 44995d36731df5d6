"""Contract section 3: a request that is repeated with its key is done once."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import pytest

from clock import Clock
from doors import Door, Refused, draft
from dynamodb.moto_table import AtomicCalls
from http_api.app import Handler
from http_client import EventClient, claims_of
from memories.errors import RequestInProgress
from memories.models import MemoryDraft
from memories.principal import SCOPES, Principal
from memories.recording import Recorded, Recording
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.port import NewRecord, Record, Store
from memories.stores.port_idempotency import KeyedRequest

DAY = 24 * 60 * 60
PRINCIPAL = Principal("local", "local", frozenset(SCOPES))


def test_a_repeat_returns_the_first_answer_and_stores_nothing(door: Door, clock: Clock) -> None:
    first = door.record(**draft(), idempotency_key="k")
    assert not door.replayed
    clock.advance(60)

    assert door.record(**draft(), idempotency_key="k") == first
    assert door.replayed
    assert door.search()["total"] == 1
    assert door.record(**draft("Another"))["version"] == 1
    assert not door.replayed


def test_a_repeat_of_a_batch_returns_the_first_answer_and_stores_nothing(door: Door) -> None:
    drafts = [draft(f"Fact {number}") for number in range(3)]
    first = door.record_batch(drafts, idempotency_key="k")
    assert not door.replayed

    assert door.record_batch(drafts, idempotency_key="k") == first
    assert door.replayed
    assert door.search()["total"] == 3


def test_the_first_answer_stays_what_it_was_when_the_memory_does_not(door: Door) -> None:
    first = door.record(**draft(), idempotency_key="revised")
    door.revise(first["id"], content="Likes coffee")
    door.inspect(first["id"])
    retired = door.record(**draft(), idempotency_key="retired")
    door.retire(retired["id"])

    assert door.record(**draft(), idempotency_key="revised") == first
    assert door.record(**draft(), idempotency_key="retired") == retired
    assert door.search()["total"] == 1


@pytest.mark.parametrize(
    "other", [draft("Likes coffee"), draft(tags=["other"]), draft(is_public=False)]
)
def test_a_key_is_refused_for_another_body(door: Door, other: dict[str, object]) -> None:
    first = door.record(**draft(), idempotency_key="k")

    with pytest.raises(Refused) as refused:
        door.record(**other, idempotency_key="k")
    assert refused.value.kind == "invalid"
    assert "was used for another request" in refused.value.text
    with pytest.raises(Refused):
        door.record_batch([draft()], idempotency_key="k")
    assert door.search()["total"] == 1
    assert door.record(**draft(), idempotency_key="k") == first


def test_what_asks_for_the_same_is_the_same_request(door: Door) -> None:
    first = door.record(**draft(), idempotency_key="k")

    same = {"tags": ["test", "test"], "memory_type": "fact", "content": "Likes tea"}
    assert door.record(**same, idempotency_key="k") == first
    assert door.replayed


def test_a_refused_request_leaves_its_key_free(door: Door) -> None:
    with pytest.raises(Refused):
        door.record(**draft(""), idempotency_key="k")

    door.record(**draft(), idempotency_key="k")
    assert not door.replayed


def test_the_keys_of_two_agents_never_meet(door_of: Callable[[str], Door]) -> None:
    one, two = door_of("one"), door_of("two")
    secret = one.record(**draft("A secret", is_public=False), idempotency_key="k")

    mine = two.record(**draft(), idempotency_key="k")
    assert not two.replayed
    assert mine["id"] != secret["id"]
    # Not even by the same request.
    same = two.record(**draft("A secret", is_public=False), idempotency_key="another")
    assert not two.replayed
    assert same["id"] != secret["id"]
    assert one.record(**draft("A secret", is_public=False), idempotency_key="k") == secret


def test_the_keys_of_two_users_never_meet(handler: Handler) -> None:
    one, two = (EventClient(handler, claims_of(user)) for user in ("one", "two"))
    one.send("POST", "/memories", draft("A secret"), idempotency_key="k")

    answer = two.send("POST", "/memories", draft(), idempotency_key="k")
    assert (answer.status, answer.body["content"]) == (201, "Likes tea")
    assert "idempotent-replayed" not in answer.headers


def test_a_key_is_known_for_24_hours(door: Door, clock: Clock) -> None:
    clock.advance(0.75)
    first = door.record(**draft(), idempotency_key="k")

    clock.advance(DAY - 0.001)
    assert door.record(**draft(), idempotency_key="k") == first
    clock.advance(1.001)
    second = door.record(**draft("Another"), idempotency_key="k")
    assert not door.replayed
    assert door.record(**draft("Another"), idempotency_key="k") == second
    assert door.search()["total"] == 2


@pytest.mark.parametrize("key", ["k", "x" * 255, "a b", '"8e03978e"', "~!@#$%^&*()"])
def test_a_key_is_any_printable_ascii(door: Door, key: str) -> None:
    first = door.record(**draft(), idempotency_key=key)
    assert door.record(**draft(), idempotency_key=key) == first


@pytest.mark.parametrize("key", ["", "x" * 256, "kéy", "a\tb"])
def test_any_other_key_is_refused_and_nothing_stored(door: Door, key: str) -> None:
    for record in (
        lambda: door.record(**draft(), idempotency_key=key),
        lambda: door.record_batch([draft()], idempotency_key=key),
    ):
        with pytest.raises(Refused) as refused:
            record()
        assert refused.value.kind == "invalid"
        assert refused.value.where[0].lower().replace("-", "_") == "idempotency_key"
    assert door.search()["total"] == 0


def test_a_key_spares_no_scope(door: Door, handler: Handler) -> None:
    door.record(**draft(), idempotency_key="k")
    reader = EventClient(handler, claims_of("local", scopes="memories:read"))
    assert reader.send("POST", "/memories", draft(), idempotency_key="k").status == 403


@pytest.fixture
def atomic_store(request: pytest.FixtureRequest, store: Store) -> Iterator[Store]:
    """The store, on which threads can meet: moto's calls are not atomic."""
    if not isinstance(store, DynamoDBStore):
        yield store
        return
    client = AtomicCalls(request.getfixturevalue("dynamodb_client")).as_client()
    yield DynamoDBStore(client, request.getfixturevalue("table"))


def test_one_key_from_32_threads_makes_one_memory(atomic_store: Store, clock: Clock) -> None:
    # One service for every two threads, as when they run in processes of their own.
    services = [MemoryService(atomic_store, clock) for _ in range(16)]
    start = Barrier(32)

    def record(thread: int) -> Recorded | None:
        start.wait()
        try:
            return services[thread % 16].recording.one(PRINCIPAL, tea(), "k")
        except RequestInProgress:
            return None

    with ThreadPoolExecutor(32) as threads:
        answers = [answer for answer in threads.map(record, range(32)) if answer]

    again = services[0].recording.one(PRINCIPAL, tea(), "k")
    assert [answer.replayed for answer in answers].count(False) == 1
    assert all(answer.memories == again.memories for answer in answers)
    assert len(records(atomic_store)) == 1


def test_a_repeat_while_the_first_is_running_is_a_conflict(store: Store, clock: Clock) -> None:
    begun, go_on = Event(), Event()

    class Held:
        """The store, in which a create waits until it is told to go on."""

        def create(
            self, principal: Principal, drafts: Sequence[NewRecord], request: KeyedRequest
        ) -> list[Record]:
            begun.set()
            assert go_on.wait(10)
            return store.create(principal, drafts, request)

    recording = Recording(Held(), clock)  # type: ignore[arg-type]
    first = Thread(target=recording.one, args=(PRINCIPAL, tea(), "k"))
    first.start()
    assert begun.wait(10)
    with pytest.raises(RequestInProgress):
        recording.one(PRINCIPAL, tea(), "k")
    go_on.set()
    first.join()

    assert recording.one(PRINCIPAL, tea(), "k").replayed
    assert len(records(store)) == 1


def tea() -> MemoryDraft:
    return MemoryDraft(content="Likes tea", tags=["drinks"])


def records(store: Store) -> list[Record]:
    found = [store.get(PRINCIPAL, memory_id) for memory_id in range(1, 64)]
    return [record for record in found if record]

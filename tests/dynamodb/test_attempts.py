"""What another does between the first attempt of a call, its answer lost, and the second."""

from dataclasses import replace

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.calls import LOST, failing
from memories.errors import MemoryNotFound, NotPermitted, StoreUnavailable, VersionMismatch
from memories.models import MemoryDraft, MemoryPatch, PermissionsPatch
from memories.principal import Principal
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore


@pytest.fixture(autouse=True)
def stored(service: MemoryService, principal: Principal) -> None:
    service.record(principal, MemoryDraft(content="Likes tea", tags=["drinks"]))


def test_a_revision_is_not_applied_again_over_another_that_followed_it(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    def another() -> None:
        service.revise(principal, 1, MemoryPatch(content="Another's"))

    with (
        failing(client, "UpdateItem", LOST, after=True, attempts=1, meanwhile=another),
        pytest.raises(StoreUnavailable),
    ):
        service.revise(principal, 1, MemoryPatch(content="Mine"))
    memory = service.inspect(principal, 1)
    assert (memory.content, memory.version) == ("Another's", 3)


def test_a_revision_that_did_not_arrive_is_applied_to_what_another_made_of_it(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    def another() -> None:
        service.revise(principal, 1, MemoryPatch(tags=["another"]))

    with failing(client, "UpdateItem", LOST, after=False, attempts=1, meanwhile=another):
        memory = service.revise(principal, 1, MemoryPatch(content="Mine"))
    assert (memory.content, memory.tags, memory.version) == ("Mine", ["another"], 3)


def test_a_version_that_another_made_is_not_taken_for_ones_own(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    def another() -> None:
        service.revise(principal, 1, MemoryPatch(content="The same"))

    with (
        failing(client, "UpdateItem", LOST, after=False, attempts=1, meanwhile=another),
        pytest.raises(VersionMismatch) as refused,
    ):
        service.revise(principal, 1, MemoryPatch(content="The same"), expected_version=1)
    assert refused.value.current.version == 2


def test_a_read_between_two_attempts_does_not_hide_that_the_write_was_done(
    client: DynamoDBClient, service: MemoryService, principal: Principal, clock: Clock
) -> None:
    def another() -> None:
        service.inspect(principal, 1)

    with failing(client, "UpdateItem", LOST, after=True, attempts=1, meanwhile=another):
        memory = service.revise(principal, 1, MemoryPatch(content="Mine"))
    assert (memory.content, memory.version, memory.last_accessed_at) == ("Mine", 2, clock.now)


def test_a_change_of_grants_between_two_attempts_does_not_hide_that_the_write_was_done(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    def share() -> None:
        service.share(principal, 1, PermissionsPatch(read_only=True))

    with failing(client, "UpdateItem", LOST, after=True, attempts=1, meanwhile=share):
        memory = service.revise(principal, 1, MemoryPatch(content="Mine"), expected_version=1)
    assert (memory.content, memory.version) == ("Mine", 2)


def test_a_revision_that_did_not_arrive_is_refused_when_its_grant_was_taken_away(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    def share() -> None:
        service.share(principal, 1, PermissionsPatch(read_only=True))

    another = replace(principal, agent_id="another")
    with (
        failing(client, "UpdateItem", LOST, after=False, attempts=1, meanwhile=share),
        pytest.raises(NotPermitted),
    ):
        service.revise(another, 1, MemoryPatch(content="Theirs"))
    assert service.inspect(principal, 1).content == "Likes tea"


def test_a_reading_whose_answer_was_lost_counts_once_also_when_the_memory_changed_since(
    client: DynamoDBClient, service: MemoryService, store: DynamoDBStore, principal: Principal
) -> None:
    def revise() -> None:
        service.revise(principal, 1, MemoryPatch(content="Changed"))

    with failing(client, "UpdateItem", LOST, after=True, attempts=1, meanwhile=revise):
        memory = service.inspect(principal, 1)
    record = store.get(principal, 1)
    assert record is not None
    assert (memory.content, record.access_count) == ("Changed", 1)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("how", ["made private", "retired"])
def test_a_memory_withdrawn_between_two_attempts_to_read_it_is_not_shown(
    client: DynamoDBClient, service: MemoryService, principal: Principal, how: str, after: bool
) -> None:
    def withdraw() -> None:
        if how == "retired":
            service.retire(principal, 1)
        else:
            service.share(principal, 1, PermissionsPatch(is_public=False))
            service.revise(principal, 1, MemoryPatch(content="A secret"))

    another = replace(principal, agent_id="another")
    with (
        failing(client, "UpdateItem", LOST, after=after, attempts=1, meanwhile=withdraw),
        pytest.raises(MemoryNotFound),
    ):
        service.inspect(another, 1)


def test_a_memory_retired_by_another_is_not_retired_by_the_second_attempt(
    client: DynamoDBClient, service: MemoryService, principal: Principal
) -> None:
    def another() -> None:
        service.retire(principal, 1)

    with (
        failing(client, "UpdateItem", LOST, after=False, attempts=1, meanwhile=another),
        pytest.raises(MemoryNotFound),
    ):
        service.retire(principal, 1)

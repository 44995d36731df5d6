"""What an erasure in the DynamoDB store deletes next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from itertools import chain
from typing import TYPE_CHECKING

from memories.stores.dynamodb import keys
from memories.stores.dynamodb.erasure_items import Batch, Deletion, State, kind_of
from memories.stores.dynamodb.expressions import (
    Condition,
    indexed_of,
    listed,
    logged_of,
    made_by,
    memories_after,
    related_to,
)
from memories.stores.dynamodb.items import Item
from memories.stores.dynamodb.queries import Queries

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# A transaction takes a hundred parts, of which one is the erasure's own item.
DELETIONS = 99
# Of an agent's memories: each may have an origin, and what belongs to a relation is two items.
MEMORIES = DELETIONS // 2

_SORT_KEY = listed(["sk"])
_LAST = {keys.COUNTER, keys.PROFILE, keys.ERASURE}


class ErasureWalk:
    """Walks through what there is of a user, or an agent, in one table."""

    def __init__(
        self, client: DynamoDBClient, table: str, idempotency_table: str, workers: Executor
    ) -> None:
        """``workers`` look for what belongs to memories."""
        self._table = table
        self._idempotency_table = idempotency_table
        self._queries = Queries(client, table)
        self._requests = Queries(client, idempotency_table)
        self._workers = workers

    def of_user(self, user_id: str, state: State) -> Batch | None:
        """Return what of a user to delete next, or None if there is only what goes last."""
        if belonging := self._belonging(state, lambda each: self._log(user_id, each)):
            return belonging
        # Downwards: the agents come last, for one that is still at work may be registered again.
        answers = self._queries.answers(
            indexed_of(user_id),
            _SORT_KEY,
            ConsistentRead=True,
            ScanIndexForward=False,
            Limit=DELETIONS + len(_LAST),
        )
        for answer in answers:
            there = [item["sk"]["S"] for item in answer["Items"]]
            found = [each for each in there if each not in _LAST][:DELETIONS]
            if found:
                return Batch(
                    [self._of_user(user_id, each) for each in found],
                    [keys.id_in(each) for each in found if each.startswith(keys.MEMORY_PREFIX)],
                )
        return self._of_requests(user_id, indexed_of(user_id))

    def of_agent(self, user_id: str, agent_id: str, state: State) -> Batch | None:
        """Return what of an agent to delete next, or None if there is only what goes last."""
        if belonging := self._belonging(
            state,
            lambda each: chain(self._relations(user_id, each), self._log(user_id, each)),
        ):
            return belonging
        answer = self._queries.answer(
            memories_after(user_id, state.after),
            listed(["sk", "origin"]),
            made_by(agent_id),
            ConsistentRead=True,
        )
        items: list[Item] = answer["Items"]
        more: Item = answer.get("LastEvaluatedKey", {})
        if not items and not more:
            requests = related_to(user_id, keys.requests_of(agent_id))
            return self._of_requests(user_id, requests, state.after)
        found = items[:MEMORIES]
        deletions: list[Deletion] = []
        for item in found:
            deletions.append(self._of_user(user_id, item["sk"]["S"]))
            if "origin" in item:
                deletions.append(self._of_user(user_id, keys.origin(item["origin"]["S"])))
        erased = [keys.id_in(item["sk"]["S"]) for item in found]
        cut = len(found) < len(items) or not more
        return Batch(deletions, erased, after=erased[-1] if cut else keys.id_in(more["sk"]["S"]))

    def _belonging(self, state: State, find: Callable[[int], Iterable[Deletion]]) -> Batch | None:
        """Return what still belongs to the memories erased last, or None."""
        found = chain.from_iterable(self._workers.map(lambda each: list(find(each)), state.erased))
        # A relation between two of them is found from both.
        deletions = sorted(
            dict.fromkeys(found), key=lambda each: each.pk.startswith(keys.LOG_PREFIX)
        )
        # An even number, and the logs after all relations: so none is parted from its mirror, by
        # which alone it may be found.
        return Batch(deletions[: 2 * MEMORIES], state.erased, state.after) if deletions else None

    def _relations(self, user_id: str, memory_id: int) -> Iterable[Deletion]:
        for prefix in (keys.RELATION_PREFIX, keys.MIRROR_PREFIX):
            among = related_to(user_id, keys.relations_of(prefix, memory_id, None))
            answer = self._queries.answer(among, _SORT_KEY, ConsistentRead=True, Limit=MEMORIES)
            for item in answer["Items"]:
                for sort_key in sorted((item["sk"]["S"], keys.twin(item["sk"]["S"]))):
                    yield self._of_user(user_id, sort_key)

    def _log(self, user_id: str, memory_id: int) -> Iterable[Deletion]:
        among = logged_of(user_id, memory_id)
        answer = self._queries.answer(among, _SORT_KEY, ConsistentRead=True, Limit=DELETIONS)
        partition = keys.log(user_id, memory_id)
        for item in answer["Items"]:
            yield Deletion(self._table, partition, item["sk"]["S"], "log_entries")

    def _of_requests(self, user_id: str, among: Condition, after: int = 0) -> Batch | None:
        """Return the deletion of requests that have a key, or None. They are not counted."""
        answer = self._requests.answer(among, _SORT_KEY, ConsistentRead=True, Limit=DELETIONS)
        partition = keys.partition(user_id)
        deletions = [
            Deletion(self._idempotency_table, partition, item["sk"]["S"], None)
            for item in answer["Items"]
        ]
        return Batch(deletions, erased=[], after=after) if deletions else None

    def _of_user(self, user_id: str, sort_key: str) -> Deletion:
        return Deletion(self._table, keys.partition(user_id), sort_key, kind_of(sort_key))

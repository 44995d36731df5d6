"""What an erasure in the DynamoDB store deletes next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from itertools import chain
from typing import TYPE_CHECKING, Any

from memories.stores.dynamodb import keys
from memories.stores.dynamodb.erasure_items import Batch, Deletion, State, kind_of
from memories.stores.dynamodb.expressions import (
    Condition,
    indexed_of,
    listed,
    made_by,
    memories_after,
    names_in,
    related_to,
)
from memories.stores.dynamodb.failures import failures_sorted
from memories.stores.dynamodb.items import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# A transaction takes a hundred parts, of which one is the erasure's own item.
DELETIONS = 99
# Of an agent's memories: each may have an origin, and what belongs to a relation is two items.
MEMORIES = DELETIONS // 2

_LAST = {keys.COUNTER, keys.PROFILE, keys.ERASURE}


class ErasureWalk:
    """Walks through what there is of a user, or an agent, in one table."""

    def __init__(
        self, client: DynamoDBClient, table: str, idempotency_table: str, workers: Executor
    ) -> None:
        """``workers`` look for what belongs to memories."""
        self._client = client
        self._table = table
        self._idempotency_table = idempotency_table
        self._workers = workers

    def of_user(self, user_id: str, state: State) -> Batch | None:
        """Return what of a user to delete next, or None if there is only what goes last."""
        if belonging := self._belonging(state, lambda each: self._log(user_id, each)):
            return belonging
        # Downwards: the agents come last, for one that is still at work may be registered again.
        query = self._query(indexed_of(user_id), ["sk"]) | {
            "ScanIndexForward": False,
            "Limit": DELETIONS + len(_LAST),
        }
        while True:
            items, more = self._page(query)
            found = [each for item in items if (each := item["sk"]["S"]) not in _LAST][:DELETIONS]
            if found:
                return Batch(
                    [self._of_user(user_id, each) for each in found],
                    [keys.id_in(each) for each in found if each.startswith(keys.MEMORY_PREFIX)],
                )
            if not more:
                return self._requests(user_id, indexed_of(user_id))

    def of_agent(self, user_id: str, agent_id: str, state: State) -> Batch | None:
        """Return what of an agent to delete next, or None if there is only what goes last."""
        if belonging := self._belonging(
            state,
            lambda each: chain(self._relations(user_id, each), self._log(user_id, each)),
        ):
            return belonging
        wanted = made_by(agent_id)
        query = self._query(memories_after(user_id, state.after), ["sk", "origin"], wanted)
        items, more = self._page(query)
        if not items and not more:
            requests = related_to(user_id, keys.requests_of(agent_id))
            return self._requests(user_id, requests, state.after)
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
            items, _ = self._page(self._query(among, ["sk"]) | {"Limit": MEMORIES})
            for item in items:
                for sort_key in sorted((item["sk"]["S"], keys.twin(item["sk"]["S"]))):
                    yield self._of_user(user_id, sort_key)

    def _log(self, user_id: str, memory_id: int) -> Iterable[Deletion]:
        partition = keys.log(user_id, memory_id)
        among = Condition("#pk = :pk", {":pk": {"S": partition}})
        items, _ = self._page(self._query(among, ["sk"]) | {"Limit": DELETIONS})
        for item in items:
            yield Deletion(self._table, partition, item["sk"]["S"], "log_entries")

    def _requests(self, user_id: str, among: Condition, after: int = 0) -> Batch | None:
        """Return the deletion of requests that have a key, or None. They are not counted."""
        query = self._query(among, ["sk"])
        query |= {"TableName": self._idempotency_table, "Limit": DELETIONS}
        items, _ = self._page(query)
        partition = keys.partition(user_id)
        deletions = [
            Deletion(self._idempotency_table, partition, item["sk"]["S"], None) for item in items
        ]
        return Batch(deletions, erased=[], after=after) if deletions else None

    def _of_user(self, user_id: str, sort_key: str) -> Deletion:
        return Deletion(self._table, keys.partition(user_id), sort_key, kind_of(sort_key))

    def _query(
        self, among: Condition, attributes: list[str], wanted: Condition | None = None
    ) -> dict[str, Any]:
        shown = listed(attributes)
        query: dict[str, Any] = {
            "TableName": self._table,
            "KeyConditionExpression": among.text,
            "ProjectionExpression": shown,
            "ExpressionAttributeNames": names_in(among.text, shown),
            "ExpressionAttributeValues": among.values,
            "ConsistentRead": True,
        }
        if wanted is not None:
            query["FilterExpression"] = wanted.text
            query["ExpressionAttributeNames"] |= names_in(wanted.text)
            query["ExpressionAttributeValues"] = among.values | wanted.values
        return query

    def _page(self, query: dict[str, Any]) -> tuple[list[Item], Item]:
        """Return the items of a page and the key that it ends at, empty if it is the last.

        The query then goes on there.
        """
        with failures_sorted():
            answer = self._client.query(**query)
        more: Item = answer.get("LastEvaluatedKey", {})
        query["ExclusiveStartKey"] = more
        return answer["Items"], more

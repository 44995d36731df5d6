"""Reads of many items at once, by their keys."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from memories.errors import StoreUnavailable
from memories.stores.dynamodb.expressions import names_in
from memories.stores.dynamodb.failures import MAX_TRIES, Pause, failures_sorted
from memories.stores.dynamodb.items import Item, key

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# BatchGetItem takes no more.
_KEYS = 100


class Batches:
    """Batches of one table, side by side where there are several."""

    def __init__(self, client: DynamoDBClient, table: str, pause: Pause, workers: Executor) -> None:
        self._client = client
        self._table = table
        self._pause = pause
        self._workers = workers

    def memories(
        self, user_id: str, ids: Sequence[int], projection: str, *, consistent: bool = True
    ) -> dict[int, Item]:
        """Return, by id, the items that there are. The projection has the id among others.

        Those read consistently are as last written; the others cost half.
        """
        wanted = [key(user_id, memory_id) for memory_id in ids]
        groups = [wanted[start : start + _KEYS] for start in range(0, len(wanted), _KEYS)]
        read = partial(self.items, projection=projection, consistent=consistent)
        # One group, as a page has, needs no other thread.
        found = self._workers.map(read, groups) if len(groups) > 1 else map(read, groups)
        return {int(item["id"]["N"]): item for item in chain.from_iterable(found)}

    def items(
        self, wanted: Sequence[Item], projection: str = "", *, consistent: bool = True
    ) -> list[Item]:
        """Return the items that there are under the keys, at most a hundred, in any order.

        Without a projection, they are whole.
        """
        request: Any = {"Keys": wanted, "ConsistentRead": consistent}
        if projection:
            request["ProjectionExpression"] = projection
            request["ExpressionAttributeNames"] = names_in(projection)
        requests: Any = {self._table: request}
        found: list[Item] = []
        for tries in range(1, MAX_TRIES + 1):
            with failures_sorted():
                answer = self._client.batch_get_item(RequestItems=requests)
            found += answer["Responses"].get(self._table, [])
            requests = answer.get("UnprocessedKeys")
            if not requests:
                return found
            self._pause(tries)
        raise StoreUnavailable

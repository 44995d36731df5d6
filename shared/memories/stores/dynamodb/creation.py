"""Creation in the DynamoDB store: ids from the user's counter, then the items, all or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memories.errors import StoreUnavailable
from memories.principal import Principal
from memories.stores.dynamodb import requests, stamps
from memories.stores.dynamodb.counters import Counters
from memories.stores.dynamodb.expressions import IS_ABSENT, names_in
from memories.stores.dynamodb.failures import (
    MAX_TRIES,
    PASSING,
    ConditionNotMet,
    Pause,
    TransactionCanceled,
    failures_sorted,
)
from memories.stores.dynamodb.items import Item, item_of
from memories.stores.dynamodb.stamps import Wall
from memories.stores.dynamodb.tokens import WRITE, is_own, new_token
from memories.stores.port import NewRecord, Record, first_version
from memories.stores.port_idempotency import FirstRequest, KeyedRequest

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class Creation:
    """Puts new memories into one table."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        idempotency_table: str,
        counters: Counters,
        *,
        pause: Pause,
        wall: Wall,
    ) -> None:
        self._client = client
        self._table = table
        self._idempotency_table = idempotency_table
        self._counters = counters
        self._pause = pause
        self._wall = wall

    def create(
        self,
        principal: Principal,
        drafts: Sequence[NewRecord],
        request: KeyedRequest | None = None,
    ) -> list[Record]:
        """Create as Store.create does."""
        first_id = self._counters.reserve(principal.user_id, len(drafts))
        records = [
            first_version(first_id + n, principal.agent_id, draft) for n, draft in enumerate(drafts)
        ]
        token = new_token(WRITE)
        written = token | stamps.created(self._wall())
        items = [item_of(principal.user_id, record) | written for record in records]
        if request:
            first = FirstRequest(request.fingerprint, first_id, drafts[0].created_at)
            kept = requests.put_of(self._idempotency_table, principal, request, first, token)
            self._put_all(items, token[WRITE]["S"], kept)
        elif len(items) == 1:
            self._put(items[0])
        else:
            self._put_all(items, token[WRITE]["S"])
        return records

    def _put(self, item: Item) -> None:
        try:
            with failures_sorted():
                self._client.put_item(**self._new(item))
        except ConditionNotMet as refused:
            if not is_own(refused.item, item):
                raise StoreUnavailable from refused

    def _put_all(
        self, items: Sequence[Item], token: str, kept: dict[str, Any] | None = None
    ) -> None:
        """Put the items, after ``kept``, which keeps the request that they are for."""
        puts: list[Any] = [*filter(None, [kept]), *map(self._new, items)]
        # Not by Transactions.write: another request with the same key is told of, not waited for.
        for tries in range(1, MAX_TRIES + 1):
            try:
                with failures_sorted():
                    self._client.transact_write_items(
                        TransactItems=[{"Put": put} for put in puts],
                        # DynamoDB knows a repeat by it for ten minutes, and does not repeat it.
                        ClientRequestToken=token,
                    )
            except TransactionCanceled as canceled:
                if kept and requests.is_done(canceled, kept):
                    return
                # For a compatible endpoint that keeps no request tokens.
                if all(map(is_own, canceled.items, items)):
                    return
                if not PASSING.issuperset(canceled.codes):
                    raise StoreUnavailable from canceled
                self._pause(tries)
            else:
                return
        raise StoreUnavailable

    def _new(self, item: Item) -> Any:
        return {
            "TableName": self._table,
            "Item": item,
            "ConditionExpression": IS_ABSENT.text,
            "ExpressionAttributeNames": names_in(IS_ABSENT.text),
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

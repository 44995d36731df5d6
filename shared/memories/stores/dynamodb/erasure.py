"""Erasure in the DynamoDB store: step by step, each a transaction of deletions and their count.

An item of the erasure keeps the counts. It is the last to go, and until then whoever repeats the
request goes on from it. What belongs to a memory and is not found by the user's partition alone
goes after the memory: from then on nothing more can come to belong to it. So the item also keeps
which memories were erased last, until nothing of theirs is left.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, NamedTuple

from memories.stores.dynamodb import keys
from memories.stores.dynamodb.accounts import DynamoDBAccounts
from memories.stores.dynamodb.counters import Counters
from memories.stores.dynamodb.erasure_items import Batch, Deletion, State, counted, kind_of
from memories.stores.dynamodb.erasure_walk import ErasureWalk
from memories.stores.dynamodb.expressions import names_in, set_all
from memories.stores.dynamodb.failures import (
    CONDITION_FAILED,
    Pause,
    TransactionCanceled,
    failures_sorted,
)
from memories.stores.dynamodb.items import Item, attributes, key_of
from memories.stores.dynamodb.tokens import WRITE, new_token
from memories.stores.dynamodb.transactions import Transactions
from memories.stores.port_erasure import Progress

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# How many steps a call takes: some seconds at the pace that a partition can be written at.
STEPS = 10

_BEGUN = (
    "SET #started_at = if_not_exists(#started_at, :at), "
    "#write_token = if_not_exists(#write_token, :token)"
)


class _Erasure(NamedTuple):
    """What is erased: the item that tells of it, what is next, and what goes with that item."""

    user_id: str
    sort_key: str
    find: Callable[[State], Batch | None]
    last: list[str]

    @property
    def key(self) -> Item:
        return key_of(self.user_id, self.sort_key)


class DynamoDBErasure:
    """Erasures in one table."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        idempotency_table: str,
        accounts: DynamoDBAccounts,
        *,
        counters: Counters,
        pause: Pause,
        workers: Executor,
    ) -> None:
        self._client = client
        self._table = table
        self._accounts = accounts
        self._counters = counters
        self._transactions = Transactions(client, table, pause)
        self._walk = ErasureWalk(client, table, idempotency_table, workers)

    def erase_user(self, user_id: str, at: str) -> Progress:
        erasure = _Erasure(
            user_id,
            keys.ERASURE,
            lambda state: self._walk.of_user(user_id, state),
            # The counter among the last: a memory that is recorded meanwhile must not meet another.
            [keys.COUNTER, keys.PROFILE],
        )
        return self._erase(erasure, at)

    def erase_agent(self, user_id: str, agent_id: str, at: str) -> Progress | None:
        erasure = _Erasure(
            user_id,
            keys.erasure(agent_id),
            lambda state: self._walk.of_agent(user_id, agent_id, state),
            [keys.agent(agent_id)],
        )
        # The agent goes with the last step, so one that is being erased is there, unless another
        # erasure took it meanwhile.
        if self._accounts.agent(user_id, agent_id) is None and not self._is_begun(erasure):
            return None
        self._accounts.keep_user(user_id, at)
        return self._erase(erasure, at)

    def _erase(self, erasure: _Erasure, at: str) -> Progress:
        # What is kept of the user's listings would still count what is gone.
        self._counters.end_epoch(erasure.user_id)
        state = self._begin(erasure, at)
        complete = False
        for _ in range(STEPS):
            batch = erasure.find(state)
            try:
                if complete := batch is None:
                    state = self._finish(erasure, state)
                    break
                state = self._commit(erasure, state, batch)
            except TransactionCanceled:
                # Someone else is at it too, or something of what was found has gone by itself.
                complete = False
                state = self._begin(erasure, at)
        self._accounts.forget(erasure.user_id)
        return Progress(state.started_at, state.counts, complete)

    def _is_begun(self, erasure: _Erasure) -> bool:
        with failures_sorted():
            answer = self._client.get_item(
                TableName=self._table, Key=erasure.key, ConsistentRead=True
            )
        return "Item" in answer

    def _begin(self, erasure: _Erasure, at: str) -> State:
        """Return the erasure as it is, begun if it is not."""
        with failures_sorted():
            answer = self._client.update_item(
                TableName=self._table,
                Key=erasure.key,
                UpdateExpression=_BEGUN,
                ExpressionAttributeNames=names_in(_BEGUN),
                ExpressionAttributeValues={":at": {"S": at}, ":token": new_token(WRITE)[WRITE]},
                ReturnValues="ALL_NEW",
            )
        return State.of(answer["Attributes"])

    def _commit(self, erasure: _Erasure, state: State, batch: Batch) -> State:
        """Delete, count and return the erasure as it is then. Raises TransactionCanceled."""
        token = new_token(WRITE)
        counts = counted(batch.deletions)
        kept = attributes({"erased": tuple(batch.erased), "after": batch.after}) | token
        change = set_all(kept)
        if counts:
            change += " ADD " + ", ".join(f"#{kind} :{kind}" for kind in counts)
        values = {f":{name}": value for name, value in (kept | attributes(counts)).items()}
        update = self._transactions.update(erasure.key, change, values, state.is_held)
        self._transactions.write([*(each.part for each in batch.deletions), update], token)
        return state.after_step(batch, token)

    def _finish(self, erasure: _Erasure, state: State) -> State:
        """Delete what goes last, the erasure's item with it. Raises TransactionCanceled."""
        token = new_token(WRITE)
        partition = keys.partition(erasure.user_id)
        deletions = [
            Deletion(self._table, partition, sort_key, kind_of(sort_key))
            for sort_key in erasure.last
        ]
        last = self._transactions.delete(erasure.key, state.is_held)
        try:
            self._transactions.write([*(each.part for each in deletions), last], token)
        except TransactionCanceled as canceled:
            *others, own = canceled.codes
            if own == "None" and CONDITION_FAILED in others:
                # Another erasure took the agent.
                return self._finish(erasure._replace(last=[]), state)
            # Without its item it is complete: by an earlier attempt of this call, whose answer was
            # lost, or by another who was at it.
            if own != CONDITION_FAILED or canceled.items[-1]:
                raise
        return state.after_step(Batch(deletions, erased=[]), token)

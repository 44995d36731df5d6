"""The users and their agents in the DynamoDB store.

A request would cost another write unit if its agent were registered each time, so each process
remembers for some minutes which are. An agent that is erased through another process is until then
not registered anew by this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING

from memories.stores.dynamodb import keys, stamps
from memories.stores.dynamodb.expressions import Condition, agents_of, memories_of, names_in
from memories.stores.dynamodb.failures import ConditionNotMet, failures_sorted
from memories.stores.dynamodb.items import Item, key_of
from memories.stores.dynamodb.queries import Queries
from memories.stores.port_accounts import AgentRecord, UserRecord

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REMEMBERED = timedelta(minutes=10)
_MOST_REMEMBERED = 10_000

# Neither the first time of an agent nor of a user is ever written over.
_FIRST_SEEN = "SET #agent_id = :agent_id, #created_at = if_not_exists(#created_at, :at)"
_DESCRIBED = ", #name = :name, #capabilities = :capabilities"
_METADATA = "SET #metadata = :metadata, #created_at = if_not_exists(#created_at, :at)"
_KEPT = (
    "SET #metadata = if_not_exists(#metadata, :metadata), "
    "#created_at = if_not_exists(#created_at, :at)"
)
# Two who merge into what they both read: the second must look again. Of a user without a profile,
# the metadata reads as empty.
_UNCHANGED = "#metadata = :expected"
_STILL_EMPTY = f"(attribute_not_exists(#pk) OR {_UNCHANGED})"


class DynamoDBAccounts:
    """Accounts in one table."""

    def __init__(
        self, client: DynamoDBClient, table: str, most_remembered: int = _MOST_REMEMBERED
    ) -> None:
        """``most_remembered`` is how many agents, of whatever users, a process remembers."""
        self._client = client
        self._table = table
        self._queries = Queries(client, table)
        self._registered = _Registered(most_remembered)

    def register(self, user_id: str, agent_id: str, at: str) -> None:
        if not self._registered.holds(user_id, agent_id, at):
            self._set_agent(user_id, agent_id, _FIRST_SEEN, {":at": {"S": at}})
            self._registered.add(user_id, agent_id, at)

    def forget(self, user_id: str) -> None:
        """Be told that agents of the user may be gone."""
        self._registered.drop(user_id)

    def agents(self, user_id: str, limit: int, offset: int) -> tuple[list[AgentRecord], int]:
        answers = self._queries.answers(agents_of(user_id), ConsistentRead=True)
        found = [_agent_of(item) for answer in answers for item in answer["Items"]]
        found.sort(key=lambda agent: (agent.created_at, agent.agent_id))
        return found[offset:][:limit], len(found)

    def agent(self, user_id: str, agent_id: str) -> AgentRecord | None:
        item = self._get(user_id, keys.agent(agent_id))
        return _agent_of(item) if item else None

    def describe(
        self, user_id: str, agent_id: str, name: str | None, capabilities: tuple[str, ...], at: str
    ) -> AgentRecord:
        values = {
            ":at": {"S": at},
            ":name": {"NULL": True} if name is None else {"S": name},
            ":capabilities": {"L": [{"S": each} for each in capabilities]},
        }
        return _agent_of(self._set_agent(user_id, agent_id, _FIRST_SEEN + _DESCRIBED, values))

    def user(self, user_id: str) -> UserRecord:
        item = self._get(user_id, keys.PROFILE)
        if item:
            metadata = {key: value["S"] for key, value in item["metadata"]["M"].items()}
            return UserRecord(item["created_at"]["S"], metadata)
        # There is a profile only once something was said of the user, or an agent erased.
        agents, _ = self.agents(user_id, limit=1, offset=0)
        times = [agent.created_at for agent in agents] + self._first_memory(user_id)
        return UserRecord(min(times, default=None), {})

    def set_metadata(
        self, user_id: str, expected: UserRecord, metadata: Mapping[str, str], at: str
    ) -> bool:
        as_expected = Condition(
            _UNCHANGED if expected.metadata else _STILL_EMPTY,
            {":expected": _map(expected.metadata)},
        )
        try:
            with failures_sorted():
                self._client.update_item(
                    TableName=self._table,
                    Key=key_of(user_id, keys.PROFILE),
                    UpdateExpression=_METADATA,
                    ConditionExpression=as_expected.text,
                    ExpressionAttributeNames=names_in(_METADATA, as_expected.text),
                    ExpressionAttributeValues=as_expected.values
                    | {":metadata": _map(metadata), ":at": {"S": expected.created_at or at}},
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
        except ConditionNotMet as refused:
            # An earlier attempt of this call may have done it, its answer lost.
            return refused.item.get("metadata") == _map(metadata)
        return True

    def keep_user(self, user_id: str, at: str) -> None:
        """Keep since when the user is known, before an agent that tells of it is erased."""
        if not self._get(user_id, keys.PROFILE):
            values = {
                ":at": {"S": self.user(user_id).created_at or at},
                ":metadata": _map({}),
            }
            with failures_sorted():
                self._client.update_item(
                    TableName=self._table,
                    Key=key_of(user_id, keys.PROFILE),
                    UpdateExpression=_KEPT,
                    ExpressionAttributeNames=names_in(_KEPT),
                    ExpressionAttributeValues=values,
                )

    def _set_agent(self, user_id: str, agent_id: str, change: str, values: Item) -> Item:
        with failures_sorted():
            answer = self._client.update_item(
                TableName=self._table,
                Key=key_of(user_id, keys.agent(agent_id)),
                UpdateExpression=change,
                ExpressionAttributeNames=names_in(change),
                ExpressionAttributeValues={":agent_id": {"S": agent_id}, **values},
                ReturnValues="ALL_NEW",
            )
        return answer["Attributes"]

    def _get(self, user_id: str, sort_key: str) -> Item:
        with failures_sorted():
            answer = self._client.get_item(
                TableName=self._table, Key=key_of(user_id, sort_key), ConsistentRead=True
            )
        return answer.get("Item", {})

    def _first_memory(self, user_id: str) -> list[str]:
        """Return when the first memory was made, if that was before agents were registered."""
        answer = self._queries.answer(memories_of(user_id), ConsistentRead=True, Limit=1)
        # One of later has its maker among the agents; and, imported, may be older than the user.
        return [item["created_at"]["S"] for item in answer["Items"] if not stamps.is_stamped(item)]


class _Registered:
    """Which agents are known to be registered, since when: some, and for a while."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._since: dict[tuple[str, str], str] = {}
        self._lock = Lock()

    def holds(self, user_id: str, agent_id: str, at: str) -> bool:
        since = self._since.get((user_id, agent_id))
        return since is not None and _moment(at) < _moment(since) + REMEMBERED

    def add(self, user_id: str, agent_id: str, at: str) -> None:
        with self._lock:
            self._since.pop((user_id, agent_id), None)
            self._since[user_id, agent_id] = at
            if len(self._since) > self._most:
                del self._since[next(iter(self._since))]

    def drop(self, user_id: str) -> None:
        with self._lock:
            for known in [known for known in self._since if known[0] == user_id]:
                del self._since[known]


def _agent_of(item: Item) -> AgentRecord:
    return AgentRecord(
        agent_id=item["agent_id"]["S"],
        created_at=item["created_at"]["S"],
        name=item.get("name", {}).get("S"),
        capabilities=tuple(each["S"] for each in item.get("capabilities", {"L": []})["L"]),
    )


def _map(texts: Mapping[str, str]) -> Item:
    return {"M": {key: {"S": value} for key, value in texts.items()}}


def _moment(at: str) -> datetime:
    return datetime.fromisoformat(at)

"""The requests that have a key, in the DynamoDB store: items of a table of their own.

A request's item is put in one transaction with the memories that it made. So there is no moment at
which one is there and the other is not, and nothing has to be marked as begun, which a crash would
leave behind.
"""

from typing import Any

from memories.errors import RequestInProgress, StoreUnavailable
from memories.principal import Principal
from memories.stores.dynamodb import keys
from memories.stores.dynamodb.expressions import IS_ABSENT, expired, names_in
from memories.stores.dynamodb.failures import TransactionCanceled
from memories.stores.dynamodb.items import Item, attributes
from memories.stores.dynamodb.tokens import is_own
from memories.stores.port_idempotency import AlreadyDone, FirstRequest, KeyedRequest


def put_of(
    table: str,
    principal: Principal,
    request: KeyedRequest,
    first: FirstRequest,
    token: Item,
) -> dict[str, Any]:
    """Return the part of a transaction that keeps a request, unless its key is in use."""
    condition = expired(request.at)
    text = f"{IS_ABSENT.text} OR {condition.text}"
    item = attributes(
        {
            "pk": keys.partition(principal.user_id),
            "sk": keys.request(principal.agent_id, request.key),
            "fingerprint": first.fingerprint,
            "first_id": first.first_id,
            "created_at": first.created_at,
            "expires_at": request.expires_at,
        }
    )
    return {
        "TableName": table,
        "Item": item | token,
        "ConditionExpression": text,
        "ExpressionAttributeNames": names_in(text),
        "ExpressionAttributeValues": condition.values,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def is_done(canceled: TransactionCanceled, put: dict[str, Any]) -> bool:
    """Say whether a canceled transaction that began with ``put`` was done by an earlier attempt.

    Raises AlreadyDone if another request has the key, and RequestInProgress if one is being stored.
    """
    code, found = canceled.codes[0], canceled.items[0]
    if code == "TransactionConflict":
        raise RequestInProgress from canceled
    if code != "ConditionalCheckFailed":
        return False
    if is_own(found, put["Item"]):
        return True
    if not found:
        raise StoreUnavailable from canceled
    raise AlreadyDone(
        FirstRequest(
            fingerprint=found["fingerprint"]["S"],
            first_id=int(found["first_id"]["N"]),
            created_at=found["created_at"]["S"],
        )
    ) from canceled

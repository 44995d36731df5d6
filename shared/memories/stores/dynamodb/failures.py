"""What the client raises, sorted: answers that the store reads, and failures of DynamoDB."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from memories import deadline
from memories.errors import StoreUnavailable
from memories.stores.dynamodb.items import Item

Pause = Callable[[int], None]

# The client has its own retries of a whole call. These are for a call that succeeds in part.
MAX_TRIES = 4
# A transaction meets others' writes, and they meet it, only while it takes: a few milliseconds.
CONFLICT_TRIES = 8
# The longest wait before the second try, in seconds; it doubles with every further one.
_FIRST_PAUSE = 0.025

_CONDITION_FAILED = "ConditionalCheckFailedException"
CONDITION_FAILED = "ConditionalCheckFailed"
"""What a part of a transaction says whose condition did not hold."""

# Why a part of a transaction failed, where trying again can help.
PASSING = {
    "None",
    "ProvisionedThroughputExceeded",
    "ThrottlingError",
    "TransactionConflict",
}
_IN_TRANSACTION = "TransactionConflictException"
_TRANSACTION_CANCELED = "TransactionCanceledException"
# A request that DynamoDB does not understand is a fault of this code, and not to be tried again.
_NOT_UNDERSTOOD = "ValidationException"


class ConditionNotMet(Exception):
    """The call's condition did not hold. ``item`` is as it was then, empty if there is none.

    ``retried``: an earlier attempt of the same call may have taken effect, its answer lost.
    """

    def __init__(self, error: ClientError) -> None:
        response: Any = error.response
        self.item: Item = response.get("Item", {})
        self.retried: bool = response["ResponseMetadata"].get("RetryAttempts", 0) > 0
        super().__init__(_CONDITION_FAILED)


class TransactionCanceled(Exception):
    """Nothing of the transaction was done. ``retried`` is as with ConditionNotMet.

    For each of its parts, ``codes`` says why ("None": not for this part) and ``items`` has the
    item that a condition did not hold for, else an empty one.
    """

    def __init__(self, error: ClientError) -> None:
        response: Any = error.response
        reasons = response["CancellationReasons"]
        self.retried: bool = response["ResponseMetadata"].get("RetryAttempts", 0) > 0
        self.codes: list[str] = [reason["Code"] for reason in reasons]
        self.items: list[Item] = [reason.get("Item", {}) for reason in reasons]
        super().__init__(_TRANSACTION_CANCELED)


@contextmanager
def failures_sorted() -> Iterator[None]:
    """Raise ConditionNotMet or TransactionCanceled for these, StoreUnavailable for failures.

    A call is a failure too for which the request has no time left.
    """
    deadline.check()
    try:
        yield
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code == _CONDITION_FAILED:
            raise ConditionNotMet(error) from error
        if code == _TRANSACTION_CANCELED:
            raise TransactionCanceled(error) from error
        if code == _NOT_UNDERSTOOD:
            raise
        raise StoreUnavailable from error
    except BotoCoreError as error:
        raise StoreUnavailable from error


def is_conflict(error: StoreUnavailable) -> bool:
    """Say whether a write failed only because a transaction was at work on its item."""
    cause: Any = error.__cause__
    return isinstance(cause, ClientError) and cause.response["Error"]["Code"] == _IN_TRANSACTION


def pause(tries: int) -> None:
    """Wait for a random while, longer after every try, so that the table can recover."""
    longer = min(tries, MAX_TRIES)
    time.sleep(random.uniform(0, _FIRST_PAUSE * 2**longer))  # noqa: S311  (no secret)

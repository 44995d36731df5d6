"""The one place that wires: from settings to a service over its store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memories.config import InvalidSetting, Settings, StoreKind
from memories.service import MemoryService
from memories.stores.port import Store
from memories.stores.port_usage import Limits

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from memories.stores.dynamodb.log import LogWriter

# DynamoDB answers in milliseconds, a megabyte of an index in some hundred. A call that takes
# longer is lost, and the next attempt is better made soon. In seconds.
CONNECT_TIMEOUT = 1
READ_TIMEOUT = 2
# In all, the first included: what a throttled table does not take now it is not to be pressed
# with, and the caller is told when to come back.
ATTEMPTS = 3


def build_store(settings: Settings) -> Store:
    """Open the store that the settings name. Raises UnusableDataFile, InvalidSetting."""
    # Loaded when needed: a store of SQLite's works without boto3, and each starts sooner.
    if settings.store is StoreKind.DYNAMODB:
        from memories.stores.dynamodb import DynamoDBStore  # noqa: PLC0415

        return DynamoDBStore(
            build_client(settings), settings.table, idempotency_table=settings.idempotency_table
        )
    from memories.stores.sqlite import SqliteStore  # noqa: PLC0415

    return SqliteStore(settings.data, log_days=settings.log_days)


def build_log_writer(settings: Settings) -> LogWriter:
    """Return what turns the table's stream into the access log. Raises InvalidSetting."""
    from memories.stores.dynamodb.log import LogWriter  # noqa: PLC0415

    return LogWriter(build_client(settings), settings.table, settings.log_days)


def build_service(settings: Settings, store: Store) -> MemoryService:
    """Return the service over a store, as the settings would have it."""
    return MemoryService(
        store,
        standard_tags=settings.standard_tags,
        log_days=settings.log_days,
        limits=Limits(settings.user_limit, settings.agent_limit),
    )


def build_client(settings: Settings) -> DynamoDBClient:
    """Return the client for DynamoDB, to be made once: it costs more than a request.

    Raises InvalidSetting.
    """
    import boto3  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415
    from botocore.exceptions import NoRegionError  # noqa: PLC0415

    from memories.stores.dynamodb.store import WORKERS  # noqa: PLC0415

    config = Config(
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=READ_TIMEOUT,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        # One for each of the store's own threads, and as many for those that serve requests.
        max_pool_connections=2 * WORKERS,
        tcp_keepalive=True,
        # It takes a fifth of a call. The requests are made by the store's code alone, and DynamoDB
        # checks them too.
        parameter_validation=False,
    )
    try:
        return boto3.client("dynamodb", endpoint_url=settings.endpoint_url or None, config=config)
    except NoRegionError as error:
        raise InvalidSetting(
            "AWS_DEFAULT_REGION is not set; say in which region the table is"
        ) from error
    except ValueError as error:
        raise InvalidSetting(
            f"MEMORIES_ENDPOINT_URL is {settings.endpoint_url!r}; it must begin with http:// or "
            "https://"
        ) from error

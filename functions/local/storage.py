"""The store of a one-machine server, which may also be made for it, or live only as long as it."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from local.table import create_table
from local.told import CannotDo
from memories.bootstrap import build_client, build_store
from memories.config import Settings, StoreKind
from memories.errors import StoreUnavailable
from memories.stores.port import Store

MOTO = "moto"
STORES = (*map(str, StoreKind), MOTO)

# In a checkout, which is where a table is made from it.
_TEMPLATE = Path(__file__).parents[2] / "template.yaml"


class UnusableTable(CannotDo):
    """The table cannot be used; the text says why and what to do."""


class MissingPackage(CannotDo):
    """A package is not installed; the text says how to."""


@contextmanager
def open_store(settings: Settings, store: str, create: bool) -> Iterator[tuple[Store, str]]:
    """Yield the store, and a line that says where the data is.

    ``create`` makes a table that is missing. Raises UnusableDataFile, UnusableTable,
    MissingPackage, InvalidSetting.
    """
    with ExitStack() as stack:
        if store != StoreKind.SQLITE:
            _check_installed("boto3" if store == StoreKind.DYNAMODB else MOTO, store)
        if store == StoreKind.SQLITE:
            where = f"data in {settings.data.resolve()}"
        elif store == StoreKind.DYNAMODB:
            at = f" at {settings.endpoint_url}" if settings.endpoint_url else ""
            where = f"data in the DynamoDB table {settings.table}{at}"
        else:
            stack.enter_context(_moto())
            create = True
            where = "data in this process alone: it is gone when the server stops"
        kind = StoreKind.SQLITE if store == StoreKind.SQLITE else StoreKind.DYNAMODB
        opened = build_store(replace(settings, store=kind))
        stack.callback(opened.close)
        if kind is StoreKind.DYNAMODB:
            if create:
                _create(settings)
            _check(opened, settings)
        yield opened, where


def _check_installed(module: str, extra: str) -> None:
    """Raise MissingPackage if the packages of a store are not there: SQLite needs none."""
    if find_spec(module) is None:
        raise MissingPackage(
            f"{module} is not installed: make serve STORE={extra} installs it, and so does "
            f"pip install '.[local,{extra}]'"
        )


@contextmanager
def _moto() -> Iterator[None]:
    from moto import mock_aws  # noqa: PLC0415  (not installed unless it is asked for)

    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        yield


def _create(settings: Settings) -> None:
    # Loaded when needed: on SQLite, boto3 need not be installed.
    from memories.stores.dynamodb.failures import failures_sorted  # noqa: PLC0415
    from memories.stores.dynamodb.keys import idempotency_table_of  # noqa: PLC0415

    client = build_client(settings)
    try:
        with failures_sorted():
            create_table(client, settings.table, _TEMPLATE)
            keys_table = settings.idempotency_table or idempotency_table_of(settings.table)
            create_table(client, keys_table, _TEMPLATE, "IdempotencyTable")
    except (StoreUnavailable, OSError) as error:
        raise UnusableTable(
            f"cannot create the table {settings.table}: {error.__cause__ or error}"
        ) from error
    finally:
        client.close()


def _check(store: Store, settings: Settings) -> None:
    try:
        store.check()
    except StoreUnavailable as error:
        told = f"cannot use the table {settings.table}: {error.__cause__}"
        if "ResourceNotFound" in str(error.__cause__):
            told += ". To make it: --create-table (with make: CREATE_TABLE=1)"
        raise UnusableTable(told) from error

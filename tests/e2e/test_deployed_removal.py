"""The removal of a stack: its data stays, unless it was told otherwise."""

import pytest

from e2e.deployment import Project, Stack
from e2e.emulator import Emulator, eventually

pytestmark = pytest.mark.e2e


def test_a_stack_leaves_its_data_behind(project: Project, emulator: Emulator) -> None:
    stack = project.deploy("memories-removed")
    table, pool = stack.physical_id("Table"), stack.physical_id("UserPool")
    _remove(stack)

    left = emulator.client("dynamodb").describe_table(TableName=table)["Table"]
    assert left["TableStatus"] == "ACTIVE"
    assert left["DeletionProtectionEnabled"]
    assert emulator.client("cognito-idp").describe_user_pool(UserPoolId=pool)


def test_a_stack_that_is_told_so_takes_its_data_along(
    project: Project, emulator: Emulator, own_issuer: dict[str, str]
) -> None:
    stack = project.deploy(
        "memories-disposable", **own_issuer, DeletionProtection="false", DataRetention="Delete"
    )
    table = stack.physical_id("Table")
    _remove(stack)

    assert table not in emulator.client("dynamodb").list_tables()["TableNames"]


def _remove(stack: Stack) -> None:
    client = stack.emulator.client("cloudformation")
    stack_id = client.describe_stacks(StackName=stack.name)["Stacks"][0]["StackId"]
    client.delete_stack(StackName=stack.name)

    def removed() -> bool:
        status = client.describe_stacks(StackName=stack_id)["Stacks"][0]["StackStatus"]
        assert status != "DELETE_FAILED"
        return bool(status == "DELETE_COMPLETE")

    eventually(removed, seconds=60)

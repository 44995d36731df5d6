"""The table is made from the template, and the settings lead to a store over it."""

import subprocess
import sys
from pathlib import Path

import pytest
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.moto_table import TEMPLATE
from local.table import create_table, table_properties
from memories.bootstrap import build_store
from memories.config import InvalidSetting, Settings, StoreKind
from memories.models import MemoryDraft
from memories.principal import Principal
from memories.service import MemoryService


def test_the_table_is_as_the_template_says(client: DynamoDBClient, table: str) -> None:
    template = table_properties(TEMPLATE, "Table")
    made = client.describe_table(TableName=table)["Table"]
    indexes = {
        index["IndexName"]: (index["KeySchema"], index["Projection"])
        for index in made["GlobalSecondaryIndexes"]
    }
    assert made["KeySchema"] == template["KeySchema"]
    assert indexes == {
        index["IndexName"]: (index["KeySchema"], index["Projection"])
        for index in template["GlobalSecondaryIndexes"]
    }
    kept = client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    assert kept.get("AttributeName") == template["TimeToLiveSpecification"]["AttributeName"]


def test_a_template_with_functions_in_it_is_read(client: DynamoDBClient, tmp_path: Path) -> None:
    template = tmp_path / "template.yaml"
    template.write_text(
        TEMPLATE.read_text().replace(
            "      BillingMode:",
            "      DeletionProtectionEnabled: !If [Kept, true, !Ref Protection]\n"
            "      TableName: !Sub '${Stack}-table'\n"
            "      Tags: !GetAtt Other.Tags\n"
            "      BillingMode:",
            1,
        )
    )
    create_table(client, "with-functions", template)
    assert client.describe_table(TableName="with-functions")["Table"]["TableStatus"] == "ACTIVE"
    client.delete_table(TableName="with-functions")


def test_a_table_that_is_there_is_left_as_it_is(
    client: DynamoDBClient, table: str, service: MemoryService, principal: Principal
) -> None:
    memory = service.record(principal, MemoryDraft(content="Likes tea", tags=["drinks"]))
    create_table(client, table, TEMPLATE)
    assert service.inspect(principal, memory.id).content == "Likes tea"


def test_the_settings_lead_to_a_store_over_the_table(
    table: str, clock: Clock, principal: Principal
) -> None:
    environment = {"MEMORIES_STORE": "dynamodb", "MEMORIES_TABLE": table}
    store = build_store(Settings.from_environment(environment))
    service = MemoryService(store, clock)
    service.check()
    memory = service.record(principal, MemoryDraft(content="Likes tea", tags=["drinks"]))
    assert service.inspect(principal, memory.id).content == "Likes tea"
    store.close()


def test_a_store_that_there_is_not_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidSetting, match=r"MEMORIES_STORE is 'files'.* sqlite, dynamodb"):
        Settings.from_environment({"MEMORIES_STORE": "files"})


def test_a_region_that_is_not_known_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    with pytest.raises(InvalidSetting, match="AWS_DEFAULT_REGION"):
        build_store(Settings(store=StoreKind.DYNAMODB))


def test_a_store_of_sqlites_loads_nothing_of_aws(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from memories.bootstrap import build_store; "
        "from memories.config import Settings; "
        f"build_store(Settings(data=Path({str(tmp_path / 'm.db')!r}))); "
        "sys.exit('botocore' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

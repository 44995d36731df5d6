"""A table made from the template that defines it, where no template was deployed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

# The rest of the template's properties is for a table that is kept: backups, protection, alarms.
_PROPERTIES = {"BillingMode", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes"}


class _TemplateLoader(yaml.SafeLoader):
    """Reads a template: plain YAML but for intrinsic functions, which it leaves out."""


_TemplateLoader.add_multi_constructor("!", lambda loader, suffix, node: None)


def create_table(
    client: DynamoDBClient, name: str, template: Path, resource: str = "Table"
) -> None:
    """Create the table that ``resource`` of the template defines, unless there is one."""
    properties = table_properties(template, resource)
    definition: Any = {each: properties[each] for each in _PROPERTIES & properties.keys()}
    try:
        client.create_table(TableName=name, **definition)
    except client.exceptions.ResourceInUseException:
        return
    client.get_waiter("table_exists").wait(TableName=name)
    client.update_time_to_live(
        TableName=name, TimeToLiveSpecification=properties["TimeToLiveSpecification"]
    )


def table_properties(template: Path, resource: str) -> dict[str, Any]:
    """Return the properties of a table of the template."""
    properties = _resources(template)[resource]["Properties"]
    assert isinstance(properties, dict)
    return properties


# A long template takes a good part of a second to read, and is asked for both tables.
@cache
def _resources(template: Path) -> dict[str, Any]:
    resources = _TemplateLoader(template.read_text()).get_single_data()["Resources"]
    assert isinstance(resources, dict)
    return resources

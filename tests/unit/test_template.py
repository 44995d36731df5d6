"""What the template promises, as far as no deployment to the emulator shows it."""

import dataclasses
import json
import re
from typing import Any

import pytest

from http_api.operations import OPERATIONS
from memories.config import PREFIX, Settings
from template import template

RESOURCES: dict[str, dict[str, Any]] = template()["Resources"]
PARAMETERS: dict[str, dict[str, Any]] = template()["Parameters"]


def of_type(kind: str) -> dict[str, dict[str, Any]]:
    return {
        name: resource["Properties"]
        for name, resource in RESOURCES.items()
        if resource["Type"] == kind
    }


def test_what_holds_data_is_kept_unless_told_otherwise() -> None:
    for name in ("PointInTimeRecovery", "DeletionProtection"):
        assert PARAMETERS[name]["Default"] == "true"
    assert PARAMETERS["DataRetention"]["Default"] == "Retain"
    for name in ("Table", "UserPool"):
        assert RESOURCES[name]["DeletionPolicy"] == {"Ref": "DataRetention"}
        assert RESOURCES[name]["UpdateReplacePolicy"] == "Retain"


def test_the_table_bills_by_request_expires_and_streams() -> None:
    table = RESOURCES["Table"]["Properties"]
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert table["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}


def test_the_keys_have_a_table_of_their_own_that_forgets_them() -> None:
    table = RESOURCES["IdempotencyTable"]["Properties"]
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    allowed = {
        role: [
            each["Action"]
            for policy in RESOURCES[role]["Properties"]["Policies"]
            for each in policy.get("PolicyDocument", {}).get("Statement", [])
            if each["Resource"] == {"Fn::GetAtt": ["IdempotencyTable", "Arn"]}
        ]
        for role in ("HttpRole", "McpRole")
    }
    # To erase is no matter of MCP.
    assert allowed == {
        "HttpRole": [
            ["dynamodb:PutItem", "dynamodb:UpdateItem"],
            ["dynamodb:DeleteItem", "dynamodb:Query"],
        ],
        "McpRole": [["dynamodb:PutItem", "dynamodb:UpdateItem"]],
    }


@pytest.mark.parametrize("function", ["HttpFunction", "McpFunction"])
def test_in_the_cloud_fair_use_is_limited(function: str) -> None:
    variables = RESOURCES[function]["Properties"]["Environment"]["Variables"]
    for party in ("User", "Agent"):
        assert PARAMETERS[f"{party}Limit"]["Default"] > 0
        assert variables[f"MEMORIES_{party.upper()}_LIMIT"] == {"Ref": f"{party}Limit"}


def test_only_health_and_mcp_are_open() -> None:
    routes = of_type("AWS::ApiGatewayV2::Route").values()
    open_routes = {route["RouteKey"] for route in routes if route["AuthorizationType"] != "JWT"}
    assert open_routes == {"GET /health"} | {
        # What is behind these verifies tokens itself, or tells where to get one.
        "POST /mcp",
        "GET /mcp",
        "GET /.well-known/oauth-protected-resource",
        "GET /.well-known/oauth-protected-resource/mcp",
    }
    assert all("AuthorizerId" in route for route in routes if route["RouteKey"] not in open_routes)


def test_every_operation_has_a_route_and_no_route_takes_a_preflight() -> None:
    keys = {route["RouteKey"] for route in of_type("AWS::ApiGatewayV2::Route").values()}
    methods = {key.partition(" ")[0] for key in keys}
    assert {operation.method for operation in OPERATIONS} <= methods
    assert methods.isdisjoint({"OPTIONS", "ANY", "$default"})


def test_browsers_are_let_in_by_name_alone() -> None:
    condition, on, off = RESOURCES["Api"]["Properties"]["CorsConfiguration"]["Fn::If"]
    assert condition == "AllowsOrigins"
    assert PARAMETERS["AllowedOrigins"]["Default"] == ""
    assert off == {"Ref": "AWS::NoValue"}
    assert on["AllowOrigins"] == {"Fn::Split": [",", {"Ref": "AllowedOrigins"}]}
    assert {"authorization", "content-type", "if-match", "idempotency-key"} <= {*on["AllowHeaders"]}
    assert {"etag", "idempotent-replayed", "location", "x-request-id"} <= {*on["ExposeHeaders"]}
    assert "AllowCredentials" not in on


def test_the_access_log_holds_no_path_no_query_and_no_caller() -> None:
    (stage,) = of_type("AWS::ApiGatewayV2::Stage").values()
    line = json.loads(stage["AccessLogSettings"]["Format"])
    assert {"request_id", "route", "status", "latency_ms"} <= line.keys()
    variables = set(line.values())
    assert all(re.fullmatch(r"\$context(\.[a-zA-Z]+)+", variable) for variable in variables)
    assert variables.isdisjoint(
        {"$context.path", "$context.identity.sourceIp", "$context.authorizer.principalId"}
    )


def test_every_log_is_kept_for_a_while_only() -> None:
    groups = of_type("AWS::Logs::LogGroup")
    assert groups
    assert all(group["RetentionInDays"] == {"Ref": "LogRetentionDays"} for group in groups.values())
    for name in ("HttpFunction", "McpFunction", "StreamFunction", "LifecycleFunction"):
        function = RESOURCES[name]["Properties"]
        assert function["LoggingConfig"]["LogGroup"]["Ref"] in groups


def test_no_resource_has_a_name_of_its_own() -> None:
    names = {
        "AlarmName",
        "ClientName",
        "FunctionName",
        "LayerName",
        "LogGroupName",
        "RoleName",
        "TableName",
        "UserPoolName",
    }
    for name, resource in RESOURCES.items():
        named = names & resource["Properties"].keys()
        # These name the function that they are for.
        of_another = {"AWS::Lambda::Permission", "AWS::Lambda::EventSourceMapping"}
        assert resource["Type"] in of_another or not named, name


def test_there_is_an_mcp_server_only_if_there_is_an_image_of_it() -> None:
    assert PARAMETERS["McpImage"]["Default"] == ""
    ours = {name: resource for name, resource in RESOURCES.items() if name.startswith("Mcp")}
    assert all(resource["Condition"] == "ServesMcp" for resource in ours.values())
    function = ours["McpFunction"]
    assert function["Properties"]["Code"] == {"ImageUri": {"Ref": "McpImage"}}
    # With it, a build of the template would build the image.
    assert "Metadata" not in function


def test_both_functions_may_do_the_same_with_the_table() -> None:
    def records(role: str) -> dict[str, Any]:
        policies = RESOURCES[role]["Properties"]["Policies"]
        (found,) = (each for each in policies if each.get("PolicyName") == "records")
        assert isinstance(found, dict)
        return found

    assert records("McpRole") == records("HttpRole")


def test_a_change_that_cannot_be_logged_holds_up_nothing_and_is_told() -> None:
    source = RESOURCES["StreamSource"]["Properties"]
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert source["BisectBatchOnFunctionError"] is True
    assert source["MaximumRetryAttempts"] == 5
    # Before the stream forgets it, after a day.
    assert source["MaximumRecordAgeInSeconds"] < 24 * 3600
    queue = source["DestinationConfig"]["OnFailure"]["Destination"]
    assert queue == {"Fn::GetAtt": ["StreamFailures", "Arn"]}
    alarm = RESOURCES["StreamLosses"]["Properties"]
    (dimension,) = alarm["Dimensions"]
    assert dimension["Value"] == {"Fn::GetAtt": ["StreamFailures", "QueueName"]}
    assert alarm["Threshold"] == 1


def test_the_stream_function_may_write_logs_and_see_whether_a_memory_is_there() -> None:
    policies = {each["PolicyName"]: each for each in _policies("StreamRole")}
    writes, reads = policies["records"]["PolicyDocument"]["Statement"]
    assert writes["Action"] == ["dynamodb:DeleteItem", "dynamodb:PutItem"]
    assert writes["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["LOG#*"]}}
    assert reads["Action"] == "dynamodb:GetItem"
    assert reads["Condition"] == {
        "ForAllValues:StringEquals": {"dynamodb:Attributes": ["pk", "sk"]},
        "StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"},
    }
    assert policies["failures"]["PolicyDocument"]["Statement"] == [
        {
            "Effect": "Allow",
            "Action": "sqs:SendMessage",
            "Resource": {"Fn::GetAtt": ["StreamFailures", "Arn"]},
        }
    ]


def test_the_lifecycle_is_off_unless_a_policy_is_set() -> None:
    policies = ("RemoveDeletedDays", "MaxMemories", "DecayDays")
    assert all(PARAMETERS[name]["Default"] == 0 for name in policies)
    schedule = RESOURCES["LifecycleFunction"]["Properties"]["Events"]["Hourly"]
    assert schedule["Properties"]["State"] == {"Fn::If": ["HasLifecycle", "ENABLED", "DISABLED"]}


def _policies(role: str) -> list[dict[str, Any]]:
    """Return the policies of a role, with those that depend on a condition."""
    policies = RESOURCES[role]["Properties"]["Policies"]
    return [each.get("Fn::If", [None, each])[1] for each in policies]


@pytest.mark.parametrize(
    "function", ["HttpFunction", "McpFunction", "StreamFunction", "LifecycleFunction"]
)
def test_a_function_is_given_settings_that_there_are(function: str) -> None:
    variables = RESOURCES[function]["Properties"]["Environment"]["Variables"]
    ours = {name for name in variables if name.startswith(PREFIX)}
    assert ours <= {PREFIX + field.name.upper() for field in dataclasses.fields(Settings)}
    assert {"MEMORIES_STORE", "MEMORIES_TABLE"} <= ours


@pytest.mark.parametrize("alarm", of_type("AWS::CloudWatch::Alarm").values())
def test_an_alarm_that_hears_nothing_is_quiet(alarm: dict[str, Any]) -> None:
    assert alarm["TreatMissingData"] == "notBreaching"
    assert alarm["AlarmActions"]["Fn::If"][0] == "TellsAlarms"

"""The MCP server's part of the stack, which an image makes."""

import pytest

from e2e.deployment import Project
from e2e.emulator import Emulator

pytestmark = pytest.mark.e2e

IMAGE = "000000000000.dkr.ecr.us-east-1.amazonaws.com/memories-mcp:1"


def test_an_image_brings_the_server_with_its_routes_and_settings(
    project: Project, emulator: Emulator, own_issuer: dict[str, str]
) -> None:
    stack = project.deploy("with-mcp", **own_issuer, McpImage=IMAGE)

    function = emulator.client("lambda").get_function(FunctionName=stack.physical_id("McpFunction"))
    assert function["Configuration"]["PackageType"] == "Image"
    assert function["Code"]["ImageUri"] == IMAGE
    variables = function["Configuration"]["Environment"]["Variables"]
    assert variables["MEMORIES_ISSUER"] == own_issuer["JwtIssuer"]
    assert variables["MEMORIES_AUDIENCE"] == own_issuer["JwtAudience"]
    assert variables["MEMORIES_TABLE"] == stack.outputs()["TableName"]
    assert stack.outputs()["McpUrl"] == f"{stack.outputs()['ApiUrl']}/mcp"
    assert variables["MEMORIES_PUBLIC_URL"] == stack.outputs()["ApiUrl"]

    routes = emulator.client("apigatewayv2").get_routes(ApiId=stack.physical_id("Api"))["Items"]
    assert {"POST /mcp", "GET /mcp"} <= {route["RouteKey"] for route in routes}


def test_beside_a_user_pool_its_clients_are_taken(project: Project, emulator: Emulator) -> None:
    stack = project.deploy("pool-with-mcp", McpImage=IMAGE, JwtAudience="one,two")

    function = emulator.client("lambda").get_function(FunctionName=stack.physical_id("McpFunction"))
    variables = function["Configuration"]["Environment"]["Variables"]
    outputs = stack.outputs()
    clients = [outputs["ServiceClientId"], outputs["PeopleClientId"], "one", "two"]
    assert variables["MEMORIES_CLIENTS"].split() == clients
    assert not variables.get("MEMORIES_AUDIENCE")
    assert variables["MEMORIES_ISSUER"] == outputs["Issuer"]
    assert variables["MEMORIES_SCOPE_PREFIX"] == "memories/"

"""The stack for those who have no issuer: a Cognito user pool of its own."""

from typing import Any

import httpx
import pytest

from doors import HttpDoor, draft
from e2e.deployment import Project, Stack

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def own_pool(project: Project) -> Stack:
    return project.deploy("memories-own-pool")


def _token(stack: Stack, scope: str) -> Any:
    """Ask for a token as an agent does: with its id, its secret and the scope it needs."""
    outputs = stack.outputs()
    described = stack.emulator.client("cognito-idp").describe_user_pool_client(
        UserPoolId=outputs["UserPoolId"], ClientId=outputs["ServiceClientId"]
    )
    secret = described["UserPoolClient"]["ClientSecret"]
    answer = httpx.post(
        f"{stack.emulator.url}/oauth2/token",
        data={"grant_type": "client_credentials", "scope": scope},
        auth=(outputs["ServiceClientId"], secret),
    )
    return answer.json()["access_token"]


def test_a_token_of_the_pool_opens_the_api(own_pool: Stack) -> None:
    token = _token(own_pool, "memories/memories:read memories/memories:write")
    door = HttpDoor(own_pool.caller(token))
    memory = door.record(**draft("Likes tea"))
    assert door.search()["items"][0]["content"] == memory["content"]


def test_a_scope_that_was_not_asked_for_is_not_there(own_pool: Stack) -> None:
    reader = own_pool.caller(_token(own_pool, "memories/memories:read"))
    assert reader.send("GET", "/memories").status == 200
    assert reader.send("POST", "/memories", draft()).status == 403


def test_tokens_of_the_pool_open_no_other_stack(own_pool: Stack, stack: Stack) -> None:
    token = _token(own_pool, "memories/memories:read")
    assert stack.caller(token).send("GET", "/memories").status == 401
    assert own_pool.caller().send("GET", "/memories").status == 401

"""What a caller is told while DynamoDB does not answer as it should."""

import pytest
from botocore.exceptions import ReadTimeoutError
from mypy_boto3_dynamodb import DynamoDBClient

from doors import draft
from dynamodb.calls import failing
from http_api.app import Handler
from http_client import EventClient
from memories.bootstrap import ATTEMPTS

LOST = ReadTimeoutError(endpoint_url="https://dynamodb.example")


@pytest.mark.parametrize(
    ("method", "target", "body", "call"),
    [
        ("POST", "/memories", draft(), "UpdateItem"),
        ("POST", "/memories", draft(), "PutItem"),
        ("POST", "/memories/batch", [draft()] * 2, "TransactWriteItems"),
        ("GET", "/memories/1", None, "UpdateItem"),
        ("GET", "/memories", None, "QueryIndex"),
        ("GET", "/memories", None, "BatchGetItem"),
        ("GET", "/memories", None, "BatchExecuteStatement"),
        ("GET", "/memories?q=tea", None, "Query"),
        ("PATCH", "/memories/1", {"content": "New"}, "GetItem"),
        ("PATCH", "/memories/1", {"content": "New"}, "UpdateItem"),
        ("DELETE", "/memories/1", None, "UpdateItem"),
    ],
)
def test_the_answer_is_503_with_the_time_to_come_back_and_nothing_is_changed(
    client: DynamoDBClient,
    handler: Handler,
    method: str,
    target: str,
    body: object,
    call: str,
) -> None:
    http = EventClient(handler)
    before = http.send("POST", "/memories", draft()).body

    with failing(client, call, LOST, after=False, attempts=ATTEMPTS):
        answer = http.send(method, target, body)

    assert answer.status == 503
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.body == {"detail": "The store is unavailable; try again"}
    assert http.send("PATCH", "/memories/1", {}).body == before
    assert http.send("GET", "/memories").body["total"] == 1

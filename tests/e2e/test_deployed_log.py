"""The functions behind the API: the stream's, which writes the access log, and the lifecycle's."""

import json
from typing import Any

import pytest

from doors import HttpDoor, Page, draft
from e2e.deployment import Project, Stack
from e2e.emulator import Emulator, eventually

pytestmark = pytest.mark.e2e

# A function's first instance takes seconds to start, and the stream is asked every second.
SECONDS = 60


def log(door: HttpDoor, memory_id: int) -> list[tuple[str, str]]:
    page: Page = door.client.send("GET", f"/memories/{memory_id}/access-log").body
    return [(each["access_type"], each["agent_id"]) for each in page["items"]]


def test_a_read_an_update_and_a_relation_appear_in_the_log(
    door: HttpDoor, other_agent: HttpDoor
) -> None:
    door.record_batch([draft("Likes tea"), draft("Likes green tea")])
    other_agent.inspect(1)
    door.revise(1, content="Likes black tea")
    other_agent.inspect(1)
    answer = door.client.send("PUT", "/memories/2/relations/contradicts/1", {})
    assert answer.status == 201

    expected = [
        ("reference", "agent-1"),
        ("read", "agent-2"),
        ("update", "agent-1"),
        ("read", "agent-2"),
    ]
    # The marks of a page are not among them: the emulator's statements leave no trace in a stream.
    eventually(lambda: len(log(door, 1)) == len(expected), SECONDS)
    assert log(door, 1) == expected
    assert log(door, 2) == []


def test_the_source_of_changes_gives_up_to_the_queue(stack: Stack, emulator: Emulator) -> None:
    client = emulator.client("lambda")
    (source,) = client.list_event_source_mappings(FunctionName=stack.physical_id("StreamFunction"))[
        "EventSourceMappings"
    ]
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    queue = source["DestinationConfig"]["OnFailure"]["Destination"]
    url = stack.outputs()["StreamFailuresUrl"]
    attributes = emulator.client("sqs").get_queue_attributes(
        QueueUrl=url, AttributeNames=["QueueArn"]
    )["Attributes"]
    assert attributes["QueueArn"] == queue


def test_poison_in_the_stream_holds_up_nothing(
    stack: Stack, emulator: Emulator, door: HttpDoor
) -> None:
    door.record(**draft("Likes tea"))
    # A read of what is no memory, for it has no time.
    table = stack.outputs()["TableName"]
    client = emulator.client("dynamodb")
    poison = {"pk": {"S": "USER#poison"}, "sk": {"S": "MEM#1"}, "accessed_by": {"S": "agent"}}
    client.put_item(TableName=table, Item=poison)
    client.put_item(TableName=table, Item=poison | {"access_count": {"N": "1"}})
    door.inspect(1)

    eventually(lambda: len(log(door, 1)) == 1, SECONDS)


def invoke(stack: Stack, payload: dict[str, Any]) -> dict[str, Any]:
    answer = stack.emulator.client("lambda").invoke(
        FunctionName=stack.outputs()["LifecycleFunctionName"], Payload=json.dumps(payload)
    )
    assert "FunctionError" not in answer, answer["Payload"].read()
    report: dict[str, Any] = json.loads(answer["Payload"].read())
    return report


def test_the_lifecycle_does_what_its_dry_run_says(
    project: Project, own_issuer: dict[str, str], stack: Stack, door: HttpDoor
) -> None:
    project.deploy(stack.name, **own_issuer, MaxMemories="2")
    door.record_batch([draft("a"), draft("b", importance=9), draft("c"), draft("d")])
    dry = invoke(stack, {"dry_run": True})
    assert door.search()["total"] == 4
    real = invoke(stack, {"dry_run": False})

    assert dry | {"dry_run": False} == real
    assert real["changes"]["retire"] >= 2
    assert [memory["content"] for memory in door.search()["items"]] == ["b", "d"]
    assert invoke(stack, {})["changes"] == {"remove": 0, "retire": 0, "decay": 0}
    # What is left out keeps the value that it has.
    project.deploy(stack.name, **own_issuer, MaxMemories="0")

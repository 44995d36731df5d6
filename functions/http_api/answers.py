"""Answers of the routes, shaped."""

from collections.abc import Sequence

from aws_lambda_powertools.event_handler import Response

from http_api.errors import JSON, LINES
from memories.account_models import Receipt
from memories.models import Memory


def memory_answer(
    memory: Memory, status: int = 200, headers: dict[str, str] | None = None
) -> Response[str]:
    tag = {"ETag": f'"{memory.version}"'}
    return json_answer(memory.model_dump_json(), status, tag | (headers or {}))


def json_answer(
    body: str, status: int = 200, headers: dict[str, str] | None = None
) -> Response[str]:
    return Response(status_code=status, content_type=JSON, body=body, headers=headers)


def lines_answer(lines: Sequence[str], headers: dict[str, str]) -> Response[str]:
    body = "".join(f"{line}\n" for line in lines)
    return Response(status_code=200, content_type=LINES, body=body, headers=headers)


def receipt_answer(receipt: Receipt) -> Response[str]:
    return json_answer(receipt.model_dump_json(), 200 if receipt.complete else 202)

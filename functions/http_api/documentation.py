"""The API described: ``/openapi.json`` and ``/docs``, both made from the operations."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from aws_lambda_powertools.event_handler import Response
from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from http_api.errors import JSON, LINES
from http_api.links import links_from
from http_api.operations import OPERATIONS, Operation, operation
from http_api.reading import VERSION_TAG, parameter_type
from http_api.schemas import Schemas
from memories import __version__
from memories.base_model import Model
from memories.fields import IdempotencyKey
from memories.models import FullMemory, Memory
from memories.service import MemoryService

_DESCRIPTION = """\
One shared memory for all of a person's AI agents: small, exact, inspectable records.

Every answer carries `X-Request-Id`. Every error is JSON with `detail`: a string, or for 422 a list
that says where each fault is and what to do."""

_ERRORS = {
    401: "No token, or not a valid one",
    403: "The token, or the memory's maker, does not allow this",
    404: "Not there, or not the caller's to see",
    409: "Another request is in the way; try again",
    412: "The memory is at another version; it is in the answer",
    413: "The body is larger than 1 MiB",
    415: "The body is not sent as the media type that is asked for",
    422: "The input breaks a rule; nothing was done",
    429: "More than a fair share; `Retry-After` says when to try again",
    500: "A fault of the service",
    503: "The store is unavailable; nothing was half-written",
}


# The page is whole: it loads nothing, speaks to this API alone, and is in no frame of another's.
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src 'self' data:; font-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}


class Error(Model):
    """What was wrong."""

    detail: str


class Fault(Model):
    """One fault in the input."""

    type: str
    loc: list[str | int]
    msg: str


class InvalidInputError(Model):
    """Every fault in the input."""

    detail: list[Fault]


class VersionMismatchError(Model):
    """What was wrong, and the memory as it is."""

    detail: str
    memory: Memory


_ERROR_MODELS: dict[int, type[BaseModel]] = {412: VersionMismatchError, 422: InvalidInputError}


@operation("GET", "/openapi.json", summary="This document", returns=None, authorised=False)
def openapi(service: MemoryService) -> Response[str]:
    return Response(status_code=200, content_type=JSON, body=document())


@operation("GET", "/docs", summary="This document, to read", returns=None, authorised=False)
def docs(service: MemoryService) -> Response[str]:
    html = "text/html; charset=utf-8"
    return Response(status_code=200, content_type=html, body=_page(), headers=_PAGE_HEADERS)


@cache
def document() -> str:
    """Return the OpenAPI 3.1 document as JSON."""
    return json.dumps(_Document().build(), ensure_ascii=False, separators=(",", ":"))


@cache
def _page() -> str:
    # Imported here: the page's scripts weigh more than the rest of the function together.
    from aws_lambda_powertools.event_handler.openapi import swagger_ui  # noqa: PLC0415

    assets = Path(swagger_ui.__file__).parent
    page = swagger_ui.generate_swagger_html(
        # A "</script>" in the document would end the script that holds it.
        spec=document().replace("</", "<\\/"),
        swagger_js=(assets / "swagger-ui-bundle.min.js").read_text(encoding="utf-8"),
        swagger_css=(assets / "swagger-ui.min.css").read_text(encoding="utf-8"),
        swagger_base_url="",
        oauth2_config=None,
    )
    # The page names the document that it shows, by an address that is not one of ours.
    return page.replace(
        'currentUrl.pathname + "?format=json"', 'new URL("openapi.json", currentUrl).pathname'
    )


class _Document:
    """Builds the document, gathering the models' schemas as they are met."""

    def __init__(self) -> None:
        self.schemas: dict[str, Any] = {}

    def build(self) -> dict[str, Any]:
        paths: dict[str, Any] = {}
        for described in OPERATIONS:
            if described.returns is not None:
                path = described.path.replace("<", "{").replace(">", "}")
                paths.setdefault(path, {})[described.method.lower()] = self._operation(described)
        return {
            "openapi": "3.1.0",
            "info": {"title": "memories", "version": __version__, "description": _DESCRIPTION},
            "paths": paths,
            "components": {
                "schemas": self.schemas,
                "securitySchemes": {
                    "token": {
                        "type": "http",
                        "scheme": "bearer",
                        "bearerFormat": "JWT",
                        "description": "Needed in the cloud. On one machine there is none.",
                    }
                },
            },
        }

    def _operation(self, operation: Operation) -> dict[str, Any]:
        described: dict[str, Any] = {
            "operationId": operation.handler.__name__,
            "summary": operation.summary,
            "tags": ["memories" if operation.authorised else "service"],
            "parameters": [*self._parameters(operation)],
            "responses": {
                str(operation.status): {
                    "description": "Success",
                    "headers": _answer_headers(operation),
                    "content": self._content(operation.returns, "serialization", operation.answers),
                }
            },
            # Either a token or, on one machine, nothing.
            "security": [{"token": []}, {}] if operation.authorised else [],
        }
        if links := links_from(operation, OPERATIONS):
            described["responses"][str(operation.status)]["links"] = links
        if operation.continues:
            described["responses"]["202"] = described["responses"][str(operation.status)] | {
                "description": "Done in part; repeat the request until it is complete"
            }
        if operation.body is not None:
            described["requestBody"] = {
                "required": not operation.body_optional,
                "content": self._content(operation.body, "validation", operation.takes),
            }
        if operation.creates:
            described["responses"]["201"] = described["responses"]["200"] | {
                "description": "Success, and it was not there before"
            }
        always = (401, 403, 429, 500, 503) if operation.authorised else (500,)
        for status in sorted({*always, *operation.errors}):
            model = _ERROR_MODELS.get(status, Error)
            if status == 503 and not operation.authorised:
                model = operation.returns
            described["responses"][str(status)] = {
                "description": _ERRORS[status],
                "content": self._content(model, "serialization"),
            }
        return described

    def _parameters(self, operation: Operation) -> list[dict[str, Any]]:
        parameters: list[dict[str, Any]] = []
        for name in operation.parameters:
            schema = parameter_type(name).json_schema(schema_generator=Schemas)
            parameters.append({"name": name, "in": "path", "required": True, "schema": schema})
        if operation.query is not None:
            query = operation.query.model_json_schema(schema_generator=Schemas)
            for name, schema in query["properties"].items():
                description = schema.pop("description", "")
                parameters.append(
                    {"name": name, "in": "query", "description": description, "schema": schema}
                )
        if operation.precondition:
            described = 'Only if the memory is at this version, like `"3"`'
            tag = {"type": "string", "pattern": f"^{VERSION_TAG}$"}
            parameters.append(_header("If-Match", described, tag))
        if operation.repeatable:
            schema = TypeAdapter(IdempotencyKey).json_schema(schema_generator=Schemas)
            parameters.append(_header("Idempotency-Key", schema.pop("description"), schema))
        parameters.append(_header("X-Request-Id", "Comes back in the answer"))
        return parameters

    def _content(self, model: Any, mode: JsonSchemaMode, media_type: str = JSON) -> dict[str, Any]:
        return {media_type: {"schema": self._schema(model, mode)}}

    def _schema(self, model: Any, mode: JsonSchemaMode) -> dict[str, Any]:
        generated = TypeAdapter(model).json_schema(
            mode=mode,
            ref_template="#/components/schemas/{model}",
            schema_generator=Schemas,
        )
        self.schemas |= generated.pop("$defs", {})
        if isinstance(model, type) and issubclass(model, BaseModel):
            self.schemas[model.__name__] = generated
            return {"$ref": f"#/components/schemas/{model.__name__}"}
        return generated


def _header(name: str, description: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    schema = schema or {"type": "string"}
    return {"name": name, "in": "header", "schema": schema, "description": description}


def _answer_headers(operation: Operation) -> dict[str, Any]:
    names = ["X-Request-Id"]
    if operation.answers == LINES:
        names.append("Link")
    if operation.returns in (Memory, Memory | FullMemory):
        names.append("ETag")
        if operation.status == 201:
            names.append("Location")
    if operation.repeatable:
        names.append("Idempotent-Replayed")
    return {name: {"schema": {"type": "string"}} for name in names}

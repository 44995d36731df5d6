"""What schemathesis is to know besides the document."""

import json
from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context: schemathesis.SerializationContext, value: Any) -> bytes:
    return json.dumps(value).encode()


@schemathesis.hook
def map_body(context: schemathesis.HookContext, body: Any) -> Any:
    """Write no integer with a point: JSON Schema takes 5.0 for one, this service for a slip."""
    if isinstance(body, dict):
        return {name: map_body(context, value) for name, value in body.items()}
    if isinstance(body, list):
        return [map_body(context, value) for value in body]
    return int(body) if isinstance(body, float) and body.is_integer() else body

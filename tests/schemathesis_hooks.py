"""What schemathesis is to know besides the document: lines of JSON."""

import json
from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context: schemathesis.SerializationContext, value: Any) -> bytes:
    return json.dumps(value).encode()

"""JSON schemas as every client takes them: inline, without references or titles."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode


def schema_of(model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:
    """Return the schema of ``model`` with each definition put in the place of its references."""
    schema = model.model_json_schema(mode=mode)
    definitions = schema.pop("$defs", {})
    inlined = _inline(schema, definitions)
    assert isinstance(inlined, dict)
    return inlined


def _inline(part: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_inline(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _inline(definitions[part["$ref"].rpartition("/")[2]], definitions)
    inlined = {key: _inline(value, definitions) for key, value in part.items()}
    # A title that pydantic made of a name tells nothing; a property that is called title stays.
    if isinstance(inlined.get("title"), str):
        del inlined["title"]
    return inlined

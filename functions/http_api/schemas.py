"""JSON schemas for the document: those of pydantic, with the rules of texts as patterns."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from memories.fields import PATTERNS


class Schemas(GenerateJsonSchema):
    """Writes down what pydantic leaves unsaid, for those who make requests from the document."""

    def function_after_schema(self, schema: Any) -> JsonSchemaValue:
        described = super().function_after_schema(schema)
        pattern = PATTERNS.get(schema["function"]["function"])
        return described if pattern is None else {**described, "pattern": pattern}

    def dict_schema(self, schema: Any) -> JsonSchemaValue:
        described = super().dict_schema(schema)
        for pattern, values in described.pop("patternProperties", {}).items():
            # A name that does not match is refused, and not one of another kind.
            names = described.get("propertyNames", {})
            described["propertyNames"] = {**names, "pattern": pattern}
            described["additionalProperties"] = values
        return described

"""From what pydantic found to what the caller is told: one wording for both doors."""

import re

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from memories.errors import InvalidInput, Problem

# Pydantic's own wording is kept where it says what to do; these did not.
_MESSAGES = {
    "extra_forbidden": "unknown field; remove it",
    "missing": "required",
    "string_unicode": "must not hold a lone surrogate",
}

# As many as help to correct a call; an input can have a hundred thousand.
_MOST_PROBLEMS = 20
_LONGEST_NAME = 64

_WANTED = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "string_type": "a string",
    "list_type": "an array",
    "model_type": "an object",
}
_SUBJECT = re.compile("^(Input|String|List|Data) should ")


def invalid_input(error: ValidationError, *where: str | int) -> InvalidInput:
    """Return the domain error for ``error``, each problem located under ``where``.

    Never repeats the input: it may be long, and it may be private.
    """
    found = error.errors(include_url=False, include_context=False)
    problems = [_problem(item, where) for item in found[:_MOST_PROBLEMS]]
    if left_out := len(found) - len(problems):
        problems.append(Problem("more", where, f"and {left_out} more problems"))
    return InvalidInput(problems)


def _problem(item: ErrorDetails, where: tuple[str | int, ...]) -> Problem:
    kind, loc = item["type"], (*where, *map(_short, item["loc"]))
    if item["input"] is None:
        return Problem("null", loc, "must not be null; leave it out instead")
    if wanted := _WANTED.get(kind):
        return Problem(kind, loc, f"must be {wanted}, not {_json_type(item['input'])}")
    if kind == "json_invalid" and not item["input"]:
        return Problem(kind, loc, "the body is empty; send JSON")
    told = _MESSAGES.get(kind) or _SUBJECT.sub("must ", item["msg"])
    return Problem(kind, loc, told.replace(" after validation", ""))


def _short(place: str | int) -> str | int:
    # The name of an unknown field is the caller's, and may be anything.
    return place[:_LONGEST_NAME] if isinstance(place, str) else place


def _json_type(value: object) -> str:
    names = {
        str: "a string",
        bool: "a boolean",
        float: "a number with a point",
        list: "an array",
        dict: "an object",
    }
    return names.get(type(value), "a number")

"""What all models have in common."""

from pydantic import BaseModel, ConfigDict

DEFERRED = ConfigDict(defer_build=True)
"""Of what is built when it is first used: a function that starts has use for little of it."""


class Model(BaseModel):
    model_config = ConfigDict(**DEFERRED, frozen=True)

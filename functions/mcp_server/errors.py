"""From errors to what a model is told: one or two short lines, that say what to do."""

from memories.errors import (
    DomainError,
    InvalidInput,
    MemoryNotFound,
    Problem,
    StoreUnavailable,
    VersionMismatch,
    WriteConflict,
)

# More than a model needs to correct its call, and it would bury the first.
_MOST_PROBLEMS = 5


def explained(error: DomainError) -> list[str]:
    """Return the texts of an error result, the current memory as JSON among them if it helps."""
    match error:
        case InvalidInput(problems=problems):
            told = [_line(problem) for problem in problems[:_MOST_PROBLEMS]]
            return ["; ".join(told) + ("; and more" if len(problems) > len(told) else "")]
        case MemoryNotFound(memory_id=memory_id):
            return [f"Memory {memory_id} not found"]
        case VersionMismatch(current=current):
            return [str(error), current.model_dump_json()]
        case WriteConflict():
            return [f"{error}; try again"]
        case StoreUnavailable(retry_after=seconds):
            return [f"{error} in {seconds} s"]
        case _:
            return [str(error)]


def _line(problem: Problem) -> str:
    where = ".".join(map(str, problem.loc))[:80]
    return f"{where}: {problem.msg}" if where else problem.msg

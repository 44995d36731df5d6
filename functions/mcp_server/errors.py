"""From errors to what a model is told: one or two short lines, that say what to do."""

from memories.errors import (
    DomainError,
    InvalidInput,
    InvalidRelation,
    MemoryNotFound,
    Problem,
    RequestInProgress,
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
            lines = [_line(problem) for problem in problems[:_MOST_PROBLEMS]]
            told = ["; ".join(lines) + ("; and more" if len(problems) > len(lines) else "")]
        case InvalidRelation(field=field):
            told = [f"{field}: {error}"]
        case MemoryNotFound(memory_id=memory_id):
            told = [f"Memory {memory_id} not found"]
        case VersionMismatch(current=current):
            told = [str(error), current.model_dump_json()]
        case WriteConflict():
            told = [f"{error}; try again"]
        case StoreUnavailable(retry_after=seconds) | RequestInProgress(retry_after=seconds):
            told = [f"{error} in {seconds} s"]
        case _:
            told = [str(error)]
    return told


def _line(problem: Problem) -> str:
    where = ".".join(map(str, problem.loc))[:80]
    return f"{where}: {problem.msg}" if where else problem.msg

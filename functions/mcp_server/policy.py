"""How an agent should use the memory: the texts that tell it, and how they are offered."""

from functools import cache
from pathlib import Path

from mcp_types import Prompt, Resource, ResourceTemplate

# The short form of the policy: what a model is told when it connects, and by the prompt.
INSTRUCTIONS = """\
One memory of a person, shared by all of their agents. Start a session with prime_memory_context.
Search narrowly before you rely on what you know of the person, and before you record: revise what
has changed instead of recording it twice. One fact a record, in a full sentence that makes sense
alone. Mark what turned out wrong as invalid; retire what should be gone. Ask before you record what
is sensitive, and never record secrets. The whole policy is the resource memories://policy."""

POLICY = Resource(
    name="policy",
    title="How to use the shared memory",
    uri="memories://policy",
    description="How an agent should recall, record, correct and retire",
    mime_type="text/markdown",
)
MEMORY = ResourceTemplate(
    name="memory",
    title="A memory",
    uri_template="memories://memories/{id}",
    description="One memory, as JSON. Reading it marks it as used",
    mime_type="application/json",
)
PROMPT = Prompt(
    name="use_memories",
    title="Use the shared memory",
    description="How to recall, record, correct and retire, in short",
)


@cache
def policy() -> str:
    """Return the whole policy, as Markdown."""
    return (Path(__file__).parent / "policy.md").read_text(encoding="utf-8")

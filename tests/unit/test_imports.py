"""The dependency rule: what each module may import."""

import ast
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted([*ROOT.glob("shared/memories/**/*.py"), *ROOT.glob("functions/**/*.py")])

# Within memories, a module imports only from the lines above it, or from its own line; and nothing
# that imports it. A package stands for all that is in it.
LAYERS = [
    {"memories"},
    {
        "memories.text",
        "memories.errors",
        "memories.addresses",
        "memories.clock",
        "memories.deadline",
        "memories.limits",
    },
    {"memories.principal", "memories.config", "memories.validation", "memories.grants"},
    {
        "memories.base_model",
        "memories.fields",
        "memories.models",
        "memories.account_models",
        "memories.relation_models",
        "memories.tag_models",
        "memories.transfer_models",
    },
    {
        "memories.stores.port",
        "memories.stores.port_accounts",
        "memories.stores.port_log",
        "memories.stores.port_maintenance",
        "memories.stores.port_relations",
        "memories.stores.port_idempotency",
        "memories.stores.port_tags",
        "memories.stores.port_erasure",
        "memories.stores.port_transfer",
        "memories.stores.port_usage",
    },
    {"memories.stores.process_usage"},
    {"memories.stores.sqlite"},
    {"memories.stores.dynamodb"},
    {
        "memories.views",
        "memories.room",
        "memories.permission",
        "memories.accounts",
        "memories.relations",
        "memories.fair_use",
        "memories.idempotency",
        "memories.recording",
        "memories.tags",
        "memories.access_log",
        "memories.lifecycle",
        "memories.erasure",
        "memories.service",
        "memories.transfer",
        "memories.arrivals",
    },
    {"memories.bootstrap"},
]
OUTSIDE = {
    "memories": {"pydantic", "pydantic_core"},
    "http_api": {"aws_lambda_powertools", "pydantic"},
    "mcp_server": {
        "anyio",
        "httpx2",
        "jwt",
        "mcp",
        "mcp_types",
        "pydantic",
        "starlette",
        "uvicorn",
    },
    "local": {"httpx2", "moto", "pydantic", "rich", "starlette", "uvicorn", "yaml"},
    "stream": {"aws_lambda_powertools"},
    "lifecycle": {"aws_lambda_powertools"},
}
# Who may speak to AWS, besides.
AWS = {"boto3", "botocore"}
SPEAKS_TO_AWS = {
    "memories.bootstrap",
    "memories.stores.dynamodb.failures",
}
FUNCTIONS = {"http_api", "lifecycle", "local", "mcp_server", "stream"}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> set[str]:
    """Return the modules that a file imports when it runs, wherever in it."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path} imports relatively"
            submodules = {f"{node.module}.{alias.name}" for alias in node.names}
            known = {name_of(module) for module in MODULES}
            imported |= (submodules & known) or {node.module}
    return imported


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_only_what_its_place_allows(path: Path) -> None:
    name = name_of(path)
    package = name.partition(".")[0]
    imported = imports_of(path)

    ours = {module for module in imported if module.partition(".")[0] in OUTSIDE}
    outside = {module.partition(".")[0] for module in imported - ours}
    allowed = OUTSIDE[package] | (AWS if name in SPEAKS_TO_AWS else set())
    assert outside - sys.stdlib_module_names <= allowed

    if package == "memories":
        if name == "memories.stores":  # the folder of the stores, which itself is nothing
            assert not ours
            return
        allowed_layers = set().union(*LAYERS[: layer_of(name) + 1])
        assert {place_of(module) for module in ours} <= allowed_layers
    else:
        others = {module.partition(".")[0] for module in ours} & FUNCTIONS - {package}
        assert package == "local" or not others


def test_no_module_is_imported_by_what_it_imports() -> None:
    graph = {
        name_of(path): {module for module in imports_of(path) if module != name_of(path)}
        for path in MODULES
    }

    assert list(TopologicalSorter(graph).static_order())


def place_of(name: str) -> str:
    """Return the entry of LAYERS that a module falls under: itself, or the package it is in."""
    places = set().union(*LAYERS)
    parts = name.split(".")
    return next(
        place
        for length in range(len(parts), 0, -1)
        if (place := ".".join(parts[:length]))
        in places - ({"memories"} if length < len(parts) else set())
    )


def layer_of(name: str) -> int:
    """Return the number of a module's layer."""
    place = place_of(name)
    return next(number for number, layer in enumerate(LAYERS) if place in layer)

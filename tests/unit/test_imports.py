"""The dependency rule: what each module may import."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted([*ROOT.glob("shared/memories/**/*.py"), *ROOT.glob("functions/**/*.py")])

# Within memories, a module imports only from the lines above it.
LAYERS = [
    {"memories"},
    {"memories.text", "memories.errors", "memories.addresses"},
    {"memories.principal", "memories.config", "memories.validation", "memories.grants"},
    {"memories.fields"},
    {"memories.models"},
    {"memories.stores", "memories.stores.port", "memories.stores.sqlite_schema"},
    {
        "memories.stores.sqlite_file",
        "memories.stores.sqlite_pages",
        "memories.stores.sqlite_rows",
        "memories.stores.keys",
    },
    {"memories.stores.sqlite", "memories.stores.items"},
    {
        "memories.stores.dynamodb_expressions",
        "memories.stores.dynamodb_failures",
        "memories.stores.dynamodb_tokens",
    },
    {"memories.stores.dynamodb_creation", "memories.stores.dynamodb_marks"},
    {"memories.stores.dynamodb_pages"},
    {"memories.stores.dynamodb"},
    {"memories.views"},
    {"memories.service"},
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
    "local": {"moto", "starlette", "uvicorn", "yaml"},
}
# Who may speak to AWS, besides.
AWS = {"boto3", "botocore"}
SPEAKS_TO_AWS = {
    "memories.bootstrap",
    "memories.stores.dynamodb",
    "memories.stores.dynamodb_failures",
    "memories.stores.dynamodb_pages",
}
FUNCTIONS = {"http_api", "local", "mcp_server"}


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
        (layer,) = (number for number, layer in enumerate(LAYERS) if name in layer)
        below = set().union(*LAYERS[:layer])
        assert ours <= below
    else:
        others = {module.partition(".")[0] for module in ours} & FUNCTIONS - {package}
        assert package == "local" or not others


def test_every_module_has_a_place() -> None:
    placed = set().union(*LAYERS)

    assert {name for name in map(name_of, MODULES) if name.startswith("memories")} == placed

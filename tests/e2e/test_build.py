"""What is built: a layer that is enough, and a template without a fault."""

import subprocess

import pytest

from e2e.deployment import Project
from e2e.tools import ROOT, Tools

pytestmark = pytest.mark.e2e


def test_the_layer_holds_all_that_the_functions_import(project: Project, tools: Tools) -> None:
    # Neither the packages of the environment nor what the variables name: as in Lambda.
    code = (
        f"import sys; sys.path[:0] = [{str(project.built / 'HttpFunction')!r},"
        f" {str(project.built / 'SharedLayer/python')!r}];"
        "import http_api.app, http_api.observability, lifecycle.app, stream.app;"
        "import boto3, memories.stores.dynamodb;"
        "from aws_lambda_powertools import Tracer; Tracer(service='x', patch_modules=['botocore'])"
    )
    run = [str(tools.bin / "python"), "-I", "-S", "-c", code]
    imported = subprocess.run(run, capture_output=True, text=True, check=False)
    assert imported.returncode == 0, imported.stderr


def test_the_layer_and_the_tests_use_the_same_versions() -> None:
    constraints = set((ROOT / "constraints.txt").read_text().split())
    lines = (ROOT / "shared/requirements.txt").read_text().splitlines()
    pinned = {line for line in lines if line and not line.startswith("#")}
    assert all("==" in line for line in pinned)
    names = {line.partition("==")[0] for line in constraints}
    assert {line for line in pinned if line.partition("==")[0] in names} <= constraints


def test_the_template_has_no_fault(tools: Tools) -> None:
    environment = tools.environment(AWS_DEFAULT_REGION="us-east-1")
    for command in (["cfn-lint", "template.yaml"], ["sam", "validate", "--lint"]):
        linted = subprocess.run(
            [tools.bin / command[0], *command[1:]],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert linted.returncode == 0, linted.stdout + linted.stderr

"""The product as it is deployed: built, put into a stack, and called through its API."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from e2e.emulator import Emulator
from e2e.tools import ROOT, Tools
from http_client import Answer, HttpClient

# A new instance of the function starts in a few seconds on a busy machine.
TIMEOUT = 60


@dataclass(frozen=True)
class Project:
    """A copy of what is built and deployed, so that a test can change it."""

    tools: Tools
    emulator: Emulator
    directory: Path

    @classmethod
    def copied(cls, tools: Tools, emulator: Emulator, directory: Path) -> "Project":
        directory.mkdir()
        shutil.copy(ROOT / "template.yaml", directory)
        ignored = shutil.ignore_patterns("__pycache__")
        for name in ("shared", "functions"):
            shutil.copytree(ROOT / name, directory / name, ignore=ignored)
        return cls(tools, emulator, directory)

    @property
    def built(self) -> Path:
        return self.directory / "build"

    def build(self) -> None:
        self._sam("build", "--build-dir", str(self.built), *self._parameters({}))

    def deploy(self, stack: str, **parameters: str) -> "Stack":
        """Create the stack, or update it in place."""
        self._sam(
            "deploy",
            "--template-file",
            str(self.built / "template.yaml"),
            "--stack-name",
            stack,
            "--resolve-s3",
            "--no-progressbar",
            "--capabilities",
            "CAPABILITY_IAM",
            "CAPABILITY_AUTO_EXPAND",
            *self._parameters(parameters),
        )
        deployed = Stack(self.emulator, stack)
        deployed.allow_batch_statements()
        return deployed

    def _parameters(self, parameters: Mapping[str, str]) -> list[str]:
        # The emulator runs functions on this machine's processor and on its tools' Python.
        given = {"Architecture": "x86_64", "Runtime": self.tools.runtime, **parameters}
        return ["--parameter-overrides", *(f"{name}={text}" for name, text in given.items())]

    def _sam(self, *arguments: str) -> None:
        command = subprocess.run(
            [self.tools.bin / "sam", *arguments],
            cwd=self.directory,
            env=self.tools.environment(
                **self.emulator.variables(),
                TMPDIR=str(self.directory),
                # Where it notes that it has been here before.
                __SAM_CLI_APP_DIR=str(self.directory),
            ),
            capture_output=True,
            text=True,
            check=False,
        )
        assert command.returncode == 0, command.stdout + command.stderr


@dataclass(frozen=True)
class Stack:
    """A deployed stack."""

    emulator: Emulator
    name: str

    def outputs(self) -> dict[str, str]:
        stacks = self.emulator.client("cloudformation").describe_stacks(StackName=self.name)
        outputs = stacks["Stacks"][0]["Outputs"]
        return {output["OutputKey"]: output["OutputValue"] for output in outputs}

    def physical_id(self, logical_id: str) -> str:
        found = self.emulator.client("cloudformation").describe_stack_resource(
            StackName=self.name, LogicalResourceId=logical_id
        )
        physical_id: str = found["StackResourceDetail"]["PhysicalResourceId"]
        return physical_id

    def allow_batch_statements(self) -> None:
        """Give the function's role what the emulator alone asks for.

        AWS asks for dynamodb:PartiQLUpdate, which the policy grants, and knows no action of the
        call's own name.
        """
        statement = {
            "Effect": "Allow",
            "Action": "dynamodb:BatchExecuteStatement",
            "Resource": "*",
        }
        self.emulator.client("iam").put_role_policy(
            RoleName=self.physical_id("HttpRole"),
            PolicyName="emulator",
            PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
        )

    def caller(self, token: str | None = None) -> "Caller":
        # By path: by its host name, the emulator would answer /health for itself.
        api_id = self.physical_id("Api")
        return Caller(f"{self.emulator.url}/_aws/execute-api/{api_id}/$default", token)

    def log_lines(self) -> list[str]:
        """Return what the function wrote, as far as it has arrived."""
        pages = self.emulator.client("logs").get_paginator("filter_log_events")
        group = self.outputs()["FunctionLogGroup"]
        return [
            event["message"].rstrip()
            for page in pages.paginate(logGroupName=group)
            for event in page["events"]
        ]

    def json_lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log_lines() if line.startswith("{")]


class Caller(HttpClient):
    """Calls the API with one token, or with none."""

    def __init__(self, url: str, token: str | None) -> None:
        self.url = url
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def request(
        self,
        method: str,
        target: str,
        body: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        answer = httpx.request(
            method,
            self.url + target,
            content=body,
            headers=self._headers | dict(headers or {}),
            timeout=TIMEOUT,
        )
        return Answer(answer.status_code, answer.headers, answer.text)

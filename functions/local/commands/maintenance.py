"""``memories maintain``: the lifecycle, run once on this machine."""

import dataclasses
import json
import sys
from collections.abc import Sequence
from typing import Any

from local.commands.options import Defaults, Subparsers, add_store, added
from local.storage import open_store
from memories.config import Settings
from memories.lifecycle import Change, Lifecycle, Policies, Report

_POLICIES = "MEMORIES_REMOVE_DELETED_DAYS, MEMORIES_MAX_MEMORIES and MEMORIES_DECAY_DAYS"
_DONE = {"remove": "removed", "retire": "retired", "decay": "lowered in importance"}


def add(commands: Subparsers, defaults: Defaults) -> None:
    parser = added(commands, "maintain", "run the policies of the lifecycle once", _maintain)
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done, and do nothing"
    )
    parser.add_argument("--json", action="store_true", help="answer in JSON, for programs")
    add_store(parser, defaults)


def _maintain(
    settings: Settings, *, store: str, create_table: bool, dry_run: bool, **options: Any
) -> None:
    as_json = options.pop("json")
    settings = dataclasses.replace(settings, **options)
    changes: list[Change] = []
    with open_store(settings, store, create_table) as (opened, _):
        policies = Policies.of(settings)
        report = Lifecycle(opened.maintenance, policies, changes.append).run(dry_run)
    if not (policies.remove_deleted_days or policies.max_memories or policies.decay_days):
        print(f"no policy is set: see {_POLICIES}", file=sys.stderr)
    print(_json(report, changes) if as_json else _text(report, changes))


def _json(report: Report, changes: Sequence[Change]) -> str:
    return json.dumps(
        dataclasses.asdict(report) | {"done": [change._asdict() for change in changes]}
    )


def _text(report: Report, changes: Sequence[Change]) -> str:
    would = "would be " if report.dry_run else ""
    lines = [f"memory {change.memory_id} {would}{_DONE[change.step]}" for change in changes]
    if not lines:
        lines.append("nothing to do")
    if not report.finished:
        lines.append("more is left to do: run it again")
    return "\n".join(lines)

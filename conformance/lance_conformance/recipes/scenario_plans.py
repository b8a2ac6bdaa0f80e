"""Plans of scenarios: operations that are staged, and then committed by the steps of a case.

The oracle writes the table; the reference stages the operation, whose files are in the table's
folder but in no version. Operations are stored as the JSON form of their messages.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
from google.protobuf import json_format
from pylanceref.operation import LanceOperation, Transaction
from pylanceref.transactions import to_message

from lance_conformance.recipes.apply_change import apply
from lance_conformance.recipes.model import Change, Plan, Step

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Commits:
    """Operations to commit in turn, each with the read version of its writer."""

    operations: tuple[tuple[LanceOperation.BaseOperation, int], ...]
    table: pa.Table | None
    manifest: Mapping[str, object] = field(default_factory=dict)
    read: Mapping[str, object] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    actors: str = "aa"


def plan_of(build: Callable[[str], Commits]) -> Callable[[], Plan]:
    """Return a maker of a plan of commits: `build` writes the table at a URI and stages them."""

    def make() -> Plan:
        stage, files = build_files(build)
        for change in stage.changes:
            files, _ = apply(change, files)
        named = zip(stage.operations, stage.actors, strict=False)
        steps = tuple(commit(operation, read, actor) for (operation, read), actor in named)
        return Plan(files, steps, stage.table, stage.read, stage.manifest)

    return make


def commit(operation: LanceOperation.BaseOperation, read_version: int, actor: str = "a") -> Step:
    """Return the step that commits an operation."""
    message = to_message(Transaction(read_version, operation))
    arm = getattr(message, message.WhichOneof("operation") or "")
    fields = json_format.MessageToDict(arm, preserving_proto_field_name=True)
    document = {arm.DESCRIPTOR.name: fields}
    args = {"read_version": str(read_version), "operation": document, "retries": 3}
    return Step("commit.apply", args, actor)


def step_plan(
    build: Callable[[str], pa.Table],
    *steps: Step,
    inputs: Mapping[str, pa.Table] | None = None,
    read: Mapping[str, object] | None = None,
    manifest: Mapping[str, object] | None = None,
) -> Callable[[], Plan]:
    """Return a maker of a plan: `build` writes the table, to which `steps` are applied.

    `build` returns the expected final table.
    """

    def make() -> Plan:
        table, files = build_files(build)
        return Plan(files, steps, table, read or {}, manifest or {}, inputs or {})

    return make


def build_files(steps: Callable[[str], Result]) -> tuple[Result, dict[str, bytes]]:
    """Return the result of steps that write a table at a URI, and the files of the table."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "table.lance")
        result = steps(str(root))
        return result, files_below(root)


def files_below(root: Path) -> dict[str, bytes]:
    """Return the files below a folder by their relative paths."""
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}

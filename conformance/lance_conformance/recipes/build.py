"""Fixture folders from recipes: bytes, expectation, hexmap and `case.json`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from lance_conformance import __version__, oracle
from lance_conformance.recipes.apply_change import Patch, apply
from lance_conformance.recipes.model import DATA, DATASET, Negative, Positive, Recipe, Scenario
from lance_conformance.suite import case_storage, suite_file
from lance_conformance.suite.derived_requirements import derive
from lance_conformance.suite.hexmap import HEXMAP_SUFFIX, build_hexmap

EXPECT = "expect.arrow"
"""Name of the expected table, an Arrow IPC file."""


def build(recipes: Iterable[Recipe], kept_clauses: Mapping[str, list[str]], out: Path) -> list[str]:
    """Write the cases that do not exist yet below `out`; return their ids. Parents come first.

    `kept_clauses` are the clauses of every positive case, as `clauses_shown` returns them.
    """
    written = []
    for recipe in sorted(recipes, key=lambda r: isinstance(r, Negative)):
        folder = out / recipe.id
        if (folder / "case.json").exists():
            continue
        if isinstance(recipe, Positive):
            _build_positive(recipe, kept_clauses[recipe.id], folder)
        elif isinstance(recipe, Scenario):
            _build_scenario(recipe, folder)
        else:
            _build_negative(recipe, out)
        written.append(recipe.id)
    return written


def clauses_shown(recipes: Iterable[Recipe]) -> dict[str, list[str]]:
    """Return the clauses of each positive case: its own, and those that its negatives break."""
    kept = {r.id: list(r.clauses) for r in recipes if isinstance(r, Positive)}
    for recipe in recipes:
        if isinstance(recipe, Negative):
            own = kept[recipe.parent]
            own += [clause for clause in (recipe.clause, *recipe.also) if clause not in own]
    return kept


def _build_positive(recipe: Positive, clauses: list[str], folder: Path) -> None:
    made = recipe.make()
    folder.mkdir(parents=True)
    _write_files(folder, made.files)
    expect: dict[str, Any] = {}
    if made.table is not None:
        expect["table"] = _table(folder, made.table, recipe.order)
    if recipe.kind == "index-search":
        mode = "exact-order" if recipe.order == "storage" else "exact-set"
        expect["search"] = {"mode": mode, "truth": EXPECT}
        if recipe.tolerance:
            expect["search"] |= {"distance_rel": recipe.tolerance, "ties": "any"}
    if recipe.facts:
        expect["facts"] = dict(recipe.facts)
    case = _header(recipe.id, recipe.title, recipe.kind)
    case["clauses"] = [{"id": clause, "role": "positive"} for clause in clauses]
    case["provenance"] = {
        "made_by": made.made_by,
        "version": made.version or oracle.RELEASE if made.made_by == "oracle" else __version__,
        "recipe": recipe.id,
        "reachable": made.made_by != "hand" if recipe.reachable is None else recipe.reachable,
    }
    case["input"] = _input(made.files)
    if recipe.args:
        case["input"]["args"] = dict(recipe.args)
    case["requires"] = _requires(recipe, folder, case["input"])
    case["expect"] = [expect]
    _write_case(folder, case, made.files)


def _build_negative(recipe: Negative, out: Path) -> None:
    parent_folder = case_storage.case_folder(out / recipe.parent)
    parent = json.loads((parent_folder / "case.json").read_text(encoding="utf-8"))
    files, patch = apply(recipe.change, read_files(parent_folder, parent))
    folder = out / recipe.id
    folder.mkdir(parents=True)
    _write_files(folder, files)
    case = _header(recipe.id, recipe.title, recipe.kind)
    broken = (recipe.clause, *recipe.also)
    case["clauses"] = [{"id": clause, "role": "negative"} for clause in broken]
    case["requires"] = dict(parent["requires"])
    if recipe.flags:
        case["flags"] = list(recipe.flags)
    made = {"made_by": "patch", "version": __version__, "recipe": recipe.id}
    case["provenance"] = {**made, "derived_from": recipe.parent, "reachable": False}
    case["patch"] = [_patch(patch, recipe.meaning)]
    case["input"] = _input(files)
    if "args" in parent["input"]:
        case["input"]["args"] = _negative_args(parent["input"]["args"], recipe.kind)
    if recipe.kind == "lint":
        stated = {
            key: parent["requires"][key] for key in ("op", "index") if key in parent["requires"]
        }
        case["requires"] = {**stated, **derive(folder, case["input"])}
        table = parent["expect"][0]["table"]
        (folder / EXPECT).write_bytes((parent_folder / EXPECT).read_bytes())
        case["expect"] = [{"table": table, "findings": [recipe.clause]}]
        if "search" in parent["expect"][0]:
            case["expect"][0]["search"] = parent["expect"][0]["search"]
    else:
        case["expect"] = [{"reject": {"stage": recipe.stage, "before_output": False}}]
    _write_case(folder, case, files)


def _negative_args(args: Mapping[str, object], kind: str) -> dict[str, object]:
    """Return the arguments of a negative; a search of a `lint` case bypasses the index."""
    asking = {"filter", "nearest"} & args.keys()
    past = {"use_index": False} if kind == "lint" and asking else {}
    return {**args, **past}


def _build_scenario(recipe: Scenario, folder: Path) -> None:
    plan = recipe.make()
    folder.mkdir(parents=True)
    _write_files(folder, plan.files)
    for name, table in plan.inputs.items():
        _write_table(folder / name, table)
    case = _header(recipe.id, recipe.title, recipe.kind)
    positive = [{"id": clause, "role": "positive"} for clause in recipe.clauses]
    case["clauses"] = positive + [{"id": clause, "role": "negative"} for clause in recipe.broken]
    case["provenance"] = {"made_by": "reference", "version": __version__, "recipe": recipe.id}
    case["input"] = {**_input(plan.files), "args": dict(plan.read)}
    case["input"]["steps"] = [
        {"actor": step.actor, "op": step.op, "args": dict(step.args)} for step in plan.steps
    ]
    case["requires"] = {"op": plan.steps[-1].op, **derive(folder, case["input"])}
    expect: dict[str, object] = {"race": {"allowed": list(recipe.allowed)}}
    if plan.manifest:
        expect["manifest"] = dict(plan.manifest)
    if plan.table is not None:
        expect["table"] = _table(folder, plan.table)
    case["expect"] = [expect]
    if recipe.writer_flags is not None:
        case["requires"]["writer_flags"] = str(recipe.writer_flags)
        refusal = {"choice": "unknown", "race": {"allowed": ["refused", "conflict"]}}
        case["expect"] = [{"choice": "known", **expect}, refusal]
    _write_case(folder, case, plan.files)


def read_files(folder: Path, case: Mapping[str, dict[str, object]]) -> dict[str, bytes]:
    """Return the input files of a case by their names in its manifest."""
    case_input = case["input"]
    if "path" in case_input:
        return {DATA: (folder / str(case_input["path"])).read_bytes()}
    listed = case_input["files"]
    assert isinstance(listed, dict)
    return {name: (folder / DATASET / name).read_bytes() for name in listed}


def _write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name if name == DATA else folder / DATASET / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _write_table(path: Path, table: pa.Table) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())


def _table(folder: Path, table: pa.Table, order: str = "storage") -> dict[str, object]:
    """Write an expected table and return its entry in the manifest."""
    _write_table(folder / EXPECT, table)
    digest = _sha256((folder / EXPECT).read_bytes())
    return {"path": EXPECT, "sha256": digest, "order": order}


def _header(case_id: str, title: str, kind: str) -> dict[str, Any]:
    return {"schema": 1, "id": case_id, "title": title, "kind": kind}


def _requires(recipe: Positive, folder: Path, case_input: Mapping[str, Any]) -> dict[str, object]:
    """Return `requires`: the operation, the index type, and the words of the bytes."""
    by_kind = {"read-file": "file.read", "metadata": "dataset.versions"}
    by_kind |= {"index-search": "index.search", "index-bytes": "index.dump"}
    requires: dict[str, object] = {"op": by_kind.get(recipe.kind, "dataset.read")}
    if recipe.index:
        requires["index"] = recipe.index
    return {**requires, **derive(folder, case_input)}


def _input(files: Mapping[str, bytes]) -> dict[str, object]:
    if DATA in files:
        return {"path": DATA, "sha256": _sha256(files[DATA])}
    return {"uri": DATASET, "files": {name: _sha256(files[name]) for name in sorted(files)}}


def _patch(patch: Patch, meaning: str) -> dict[str, object]:
    block: dict[str, object] = {"target": patch.target, "at": patch.at, "field": patch.field}
    block |= {"was_hex": patch.was.hex(), "now_hex": patch.now.hex(), "meaning": meaning}
    if patch.reflow:
        block["reflow"] = True
    return block


def _write_case(folder: Path, case: dict[str, object], files: Mapping[str, bytes]) -> None:
    case["introduced"] = __version__
    (folder / "case.json").write_text(suite_file.canonical_text(case), encoding="utf-8")
    if DATA in files:
        (folder / f"{DATA}{HEXMAP_SUFFIX}").write_text(build_hexmap(files[DATA]), encoding="utf-8")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

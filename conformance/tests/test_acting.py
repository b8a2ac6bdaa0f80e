"""Tests of acting: what became of a step, and what must be in the table afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.acting import act, outcome, versions
from lance_conformance.adapters.reference import in_process
from lance_conformance.cases import Case
from lance_conformance.outcomes import Outcome
from lance_conformance.session import Answer

OK = {"ok": {"version": "3"}}
CONFLICT = {"reject": {"stage": "commit", "kind": "conflict", "message": ""}}
REFUSAL = {"reject": {"stage": "metadata", "message": ""}}


@pytest.mark.parametrize(
    ("response", "after", "wanted"),
    [
        (OK, [1, 2, 3], "committed"),
        (OK, [1, 2, 3, 4], "rebased"),
        (OK, [1, 2], "noop"),
        (OK, [2], "noop"),
        (CONFLICT, [1, 2], "conflict"),
        (REFUSAL, [1, 2], "refused"),
        ({"reject": {"stage": "open", "kind": "conflict", "message": ""}}, [1, 2], "conflict"),
        ({"reject": {"stage": "commit", "kind": "schema", "message": ""}}, [1, 2], "refused"),
        (REFUSAL, [1, 2, 3], "committed"),
    ],
)
def test_what_became_of_a_step(response: dict[str, Any], after: list[int], wanted: str) -> None:
    """The response tells refusals apart; the versions on disk tell whether anything was made."""
    assert wanted == outcome(response, {"read_version": "2"}, [1, 2], after)


def _ask(actor: str, op: str, fields: Mapping[str, object]) -> Answer:
    return Answer(in_process(op, fields))


def _case(folder: Path, verb: str, args: dict[str, object], **expected: object) -> Case:
    table = pa.table({"a": [1, 3]})
    path = str(folder / "expect.arrow")
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    step = {"actor": "a", "op": "mutate", "args": {"verb": verb, "args": args}}
    expect = {"race": {"allowed": ["committed"]}, "table": {"path": "expect.arrow"}, **expected}
    return Case(folder, {"id": "x", "input": {"uri": "t", "steps": [step]}, "expect": [expect]})


def _table(folder: Path) -> Path:
    root = folder / "table.lance"
    pylanceref.write_dataset(pa.table({"a": [1, 2, 3]}), root)
    return root


DELETE = {"predicate": "a = 2"}


def test_the_table_is_read_by_both_and_validated(tmp_path: Path) -> None:
    """Each look at what a step left is a check of its own."""
    case = _case(tmp_path, "delete", DELETE, manifest={"version": "2", "indices": []})
    done = list(act(case, case.manifest["expect"][0], _table(tmp_path), _ask))

    assert ["step 1", "self", "reference", "manifest"] == [one.name for one in done]
    assert {Outcome.PASS} == {one.verdict.outcome for one in done}


@pytest.mark.parametrize(
    ("args", "expected", "where"),
    [
        ({"predicate": "a = 1"}, {}, "self"),
        (DELETE, {"manifest": {"version": "3"}}, "manifest"),
        (DELETE, {"race": {"allowed": ["conflict"]}}, "step 1"),
        ({"predicate": "no such"}, {}, "step 1"),
    ],
)
def test_what_is_not_as_expected_fails(
    args: dict[str, object], expected: dict[str, object], where: str, tmp_path: Path
) -> None:
    """Another row, another version, a commit that was to be refused, a refusal."""
    case = _case(tmp_path, "delete", args, **expected)
    done = list(act(case, case.manifest["expect"][0], _table(tmp_path), _ask))
    wrong = [one.name for one in done if one.verdict.outcome != Outcome.PASS]

    assert where == wrong[0]


def test_a_broken_clause_of_what_is_left_fails(tmp_path: Path) -> None:
    """Rows and manifest are as expected; a file that the version names has grown."""
    case, root = _case(tmp_path, "delete", DELETE), _table(tmp_path)

    def grow(actor: str, op: str, fields: Mapping[str, object]) -> Answer:
        answer = _ask(actor, op, fields)
        if op == "mutate":
            (path,) = (root / "_transactions").glob("1-*.txn")
            path.write_bytes(path.read_bytes() + b"\xff")
        return answer

    last = list(act(case, case.manifest["expect"][0], root, grow))[-1]

    assert "L.txn.file.message" in last.verdict.detail


def test_a_folder_without_a_table_has_no_versions(tmp_path: Path) -> None:
    """Before an Overwrite creates it."""
    assert [] == versions(tmp_path / "nothing")

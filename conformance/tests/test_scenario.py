"""Steps that commit, and outputs of writers: what must be in the table, and what can be wrong."""

import json
import os
import shutil
import struct
from collections.abc import Mapping
from pathlib import Path

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.adapters.reference import in_process
from lance_conformance.adapters.server import write_table
from lance_conformance.cli import app
from lance_conformance.judging import manifest_facts, scenario, writer_output
from lance_conformance.judging.writer_output import OWNERSHIP, REFERENCE_READ, VALIDITY
from lance_conformance.outcomes import Outcome
from lance_conformance.protocol.session import RequestResult
from lance_conformance.suite.cases import Case
from typer.testing import CliRunner

OK = {"ok": {"version": "3"}}
CONFLICT = {"reject": {"stage": "commit", "kind": "conflict", "message": ""}}
REFUSAL = {"reject": {"stage": "metadata", "message": ""}}


@pytest.mark.parametrize(
    ("response", "after", "expected"),
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
def test_what_became_of_a_step(response, after, expected):
    """The kind of refusal follows from the response, commits from the versions on disk."""
    assert expected == scenario.step_outcome(response, {"read_version": "2"}, [1, 2], after)


def _ask(actor: str, op: str, fields: Mapping[str, object]) -> RequestResult:
    return RequestResult(in_process(op, fields))


def _case(folder: Path, verb: str, args: dict[str, object], **expected: object) -> Case:
    write_table(str(folder / "expect.arrow"), pa.table({"a": [1, 3]}))
    step = {"actor": "a", "op": "mutate", "args": {"verb": verb, "args": args}}
    expect = {"race": {"allowed": ["committed"]}, "table": {"path": "expect.arrow"}, **expected}
    return Case(folder, {"id": "x", "input": {"uri": "t", "steps": [step]}, "expect": [expect]})


def _table(folder: Path) -> Path:
    root = folder / "table.lance"
    pylanceref.write_dataset(pa.table({"a": [1, 2, 3]}), root)
    return root


DELETE = {"predicate": "a = 2"}


def test_the_table_is_read_by_both_and_validated(tmp_path):
    """Each look at what a step left is a check of its own."""
    case = _case(tmp_path, "delete", DELETE, manifest={"version": "2", "indices": []})
    done = list(scenario.run_scenario(case, case.manifest["expect"][0], _table(tmp_path), _ask))

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
def test_what_is_not_as_expected_fails(args, expected, where, tmp_path):
    """Another row, another version, a commit that was to be refused, a refusal."""
    case = _case(tmp_path, "delete", args, **expected)
    done = list(scenario.run_scenario(case, case.manifest["expect"][0], _table(tmp_path), _ask))
    wrong = [one.name for one in done if one.verdict.outcome != Outcome.PASS]

    assert where == wrong[0]


def _grow(root: Path) -> None:
    path = max((root / "_transactions").iterdir())
    path.write_bytes(path.read_bytes() + b"\xff")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_grow, "L.txn.file.message"),
        (lambda root: (root / "_versions/1.manifest").touch(), "L.table.naming.one-scheme"),
        (shutil.rmtree, "noop, not committed"),
        (lambda root: os.mkfifo(root.parent / "reference.arrow"), ""),
    ],
)
@pytest.mark.parametrize("refuses", [False, True])
def test_what_is_left_may_be_anything(damage, message, refuses, tmp_path):
    """A grown file, another naming scheme and a missing table fail, where it may refuse too."""
    case, root = _case(tmp_path, "delete", DELETE), _table(tmp_path)
    case.manifest["expect"][0]["race"]["allowed"] = ["committed", *["conflict"] * refuses]
    refusal = RequestResult({"reject": {"kind": "conflict", "stage": "commit", "message": "no"}})

    def ask(actor: str, op: str, fields: Mapping[str, object]) -> RequestResult:
        answer = refusal if refuses and op == "mutate" else _ask(actor, op, fields)
        if op == "mutate":
            damage(root)
        return answer

    *_, last = scenario.run_scenario(case, case.manifest["expect"][0], root, ask)

    outcome = Outcome.FAIL if message else Outcome.PASS
    assert (outcome, True) == (last.verdict.outcome, refuses or message in last.verdict.detail)


@pytest.mark.parametrize(
    ("expected", "differs"),
    [
        *((one, False) for one in ({"a": "1"}, {"b": [{"c": 1}, {}]}, {"gone": None})),
        *((one, True) for one in ({"a": None}, {"gone": "1"}, {"a": {"c": 1}})),
        *(({"b": one}, True) for one in ([{"c": 1}], [{"c": 2}, {}])),
    ],
)
def test_a_subset_is_enough(expected, differs):
    """Expected facts must exist and be equal; lists are complete, null means absent."""
    found = {"a": "1", "b": [{"c": 1, "d": 2}, {"c": 5}]}

    assert differs == (manifest_facts.first_mismatch(expected, found, "manifest") is not None)


ROWS = pa.table({"a": pa.array([1, None, 3], pa.int64()), "s": ["x", "", None]})
HOLE = 192
"""Bytes that nothing names: more than what pads a buffer."""


@pytest.fixture
def meant(tmp_path: Path) -> Path:
    """The rows that a writer meant, as an Arrow file."""
    path = tmp_path / "meant.arrow"
    write_table(str(path), ROWS)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A data file of these rows."""
    lanceref.write_file(tmp_path / "data.lance", ROWS, "2.1")
    return tmp_path / "data.lance"


def _wrong(output: Path, meant: Path) -> dict[str, tuple[str, ...]]:
    answers = writer_output.judge_output(output, meant)
    return {answer.question: answer.wrong for answer in answers if answer.wrong}


def _with_hole(file: Path) -> None:
    """Move the footer of a data file, so that bytes before it are named by nothing."""
    stored = bytearray(file.read_bytes())
    metadata, columns, buffers, num_buffers, num_columns = struct.unpack_from(
        "<QQQII", stored, len(stored) - 40
    )
    (descriptor,) = struct.unpack_from("<Q", stored, buffers)
    for place in (*range(columns, columns + 16 * num_columns, 16), buffers, *range(-40, -16, 8)):
        at = place % len(stored)
        (start,) = struct.unpack_from("<Q", stored, at)
        struct.pack_into("<Q", stored, at, start + HOLE)
    file.write_bytes(stored[:descriptor] + bytes(HOLE) + stored[descriptor:])
    assert (1, True) == (num_buffers, metadata > descriptor)


def test_what_was_meant_is_right(tmp_path, file, meant):
    """A file, and a table, also with a note and with a checksum that a file system keeps."""
    pylanceref.write_dataset(ROWS, tmp_path / "table", max_rows_per_file=2)
    assert {} == _wrong(tmp_path / "table", meant)
    (tmp_path / "table" / "README.md").write_text("a note")
    (tmp_path / "table" / "data" / ".file.lance.crc").write_bytes(b"crc\0\1\2\3\4")

    assert ({}, {}) == (_wrong(file, meant), _wrong(tmp_path / "table", meant))


def test_other_rows_are_read(tmp_path, meant):
    """A valid file of other rows is wrong, for every reader."""
    lanceref.write_file(tmp_path / "data.lance", ROWS.slice(0, 2), "2.1")
    wrong = _wrong(tmp_path / "data.lance", meant)

    assert VALIDITY not in wrong
    assert wrong[REFERENCE_READ][0].startswith("rows: expected 3, found 2\nrow 2\n  expected a: 3")


def test_a_broken_clause_is_named(file, meant):
    """Damage is reported by its clause, and the reference refuses it."""
    file.write_bytes(file.read_bytes()[:-4] + b"LANX")
    wrong = _wrong(file, meant)

    assert any("L.file.footer.magic" in one for one in wrong[VALIDITY])
    assert REFERENCE_READ in wrong


def test_bytes_without_an_owner_are_wrong(file, meant):
    """A hole that nothing names reads well, and is not what a writer should make."""
    _with_hole(file)
    wrong = _wrong(file, meant)

    assert REFERENCE_READ not in wrong
    assert f"{file.name}: bytes" in wrong[OWNERSHIP][0]


def test_every_file_of_a_table_has_owners(tmp_path, meant):
    """Bytes in any file of a table are asked for their owners, those of an index too."""
    table = pylanceref.write_dataset(ROWS, tmp_path / "table")
    table.create_scalar_index("a", "BTREE")
    index = next((tmp_path / "table" / "_indices").rglob("page_data.lance"))
    _with_hole(index)
    wrong = _wrong(tmp_path / "table", meant)

    assert 1 == len(wrong[OWNERSHIP])
    assert "page_data.lance: bytes" in wrong[OWNERSHIP][0]


def test_the_command_takes_pairs_and_tells_what_is_wrong(tmp_path, file, meant):
    """0 for right outputs, 1 for a wrong one, 2 for a missing one; text, JSON and JUnit."""
    pairs = [{"output": "data.lance", "meant": "meant.arrow"}]
    (tmp_path / "pairs.json").write_text(json.dumps(pairs))
    run = CliRunner().invoke
    right = run(app, ["judge-output", "--pairs", str(tmp_path / "pairs.json")])
    assert (0, True) == (right.exit_code, "1 of 1 outputs are right" in right.output)

    file.write_bytes(file.read_bytes()[:-4] + b"LANX")
    arguments = ["judge-output", str(file), str(meant), "--format"]
    document = json.loads(run(app, [*arguments, "json"]).output)
    junit = run(app, [*arguments, "junit"])

    assert VALIDITY == document[0]["answers"][0]["question"]
    assert "L.file.footer.magic" in document[0]["answers"][0]["wrong"][0]
    assert (1, True) == (junit.exit_code, "<failure" in junit.output)
    assert 2 == run(app, ["judge-output", str(file)]).exit_code
    assert 2 == run(app, ["judge-output", "nothing", str(meant)]).exit_code

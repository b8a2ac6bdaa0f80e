"""Shrinking: from a file two adapters disagree about to a draft of a case."""

import sys
from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lance_conformance.cli import app
from lance_conformance.shrink.disagreement import Reading, signature
from lance_conformance.shrink.minimal import minimal
from lance_conformance.shrink.parts import assemble, parse_file, with_fields, with_pages
from lance_conformance.suite import cases
from pylanceref.file import LanceFileReader, LanceFileWriter
from typer.testing import CliRunner

SLIP = Path(__file__).parents[1] / "fakes" / "slip.py"
REFERENCE = f"{sys.executable} -m lance_conformance.adapters.reference"
CLAUSE = "L.file.footer.magic"

ROWS = pa.table(
    {
        "a": pa.array(range(10, 18), pa.int32()),
        "b": pa.array([None if i == 5 else str(i) for i in range(8)]),
    }
)


def call(path: Path, other: str, out: Path, *arguments: str) -> tuple[int, str]:
    """Shrink a file about which the reference and another adapter disagree."""
    options = ["--disagree", REFERENCE, other, "--seconds", "60", "--clause", CLAUSE]
    result = CliRunner().invoke(app, ["shrink", str(path), *options, "--out", str(out), *arguments])
    return result.exit_code, result.output


def draft(out: Path) -> cases.Case:
    """The draft below a folder, with a valid manifest."""
    (path,) = out.rglob("case.json")
    return cases.load_case(path, out)


@pytest.mark.parametrize(
    ("mode", "rows", "kind"),
    [("wrong", {"a": [13]}, "other values"), ("dies", {"b": [None]}, "reads, crash")],
)
def test_rows_are_shrunk_to_the_necessary_one(tmp_path, mode, rows, kind):
    """Of 8 rows and two columns one cell remains; the draft expects the reference's reading."""
    path = tmp_path / "data.lance"
    with LanceFileWriter(path, ROWS.schema, version="2.1") as writer:
        writer.write_batch(ROWS)
    code, output = call(path, f"{sys.executable} {SLIP} {mode}", tmp_path / "out")
    case = draft(tmp_path / "out")

    assert 0 == code, output
    assert output.startswith(kind)
    assert rows == LanceFileReader(str(case.input_root)).read_all().to_table().to_pydict()
    assert "draft" == case.manifest["status"]
    assert case.manifest["note"].startswith(kind)


def test_unnecessary_files_of_tables_are_removed(tmp_path):
    """Old versions, transactions and fragments without the value."""
    table = tmp_path / "table"
    for start in (0, 4):
        pylanceref.write_dataset(ROWS.slice(start, 4), table, mode="append" if start else "create")
    code, output = call(table, f"{sys.executable} {SLIP} wrong", tmp_path / "out", "--budget", "30")
    files = draft(tmp_path / "out").manifest["input"]["files"]

    assert 0 == code, output
    assert 1 == sum(name.startswith("_versions") for name in files)
    assert not any(name.startswith("_transactions") for name in files)


ONE = pa.table({"a": pa.array([1, 2], pa.int32())})


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (Reading("reads", ONE), Reading("reads", ONE), ""),
        (Reading("refuses", detail="x"), Reading("refuses", detail="y"), ""),
        (Reading("crash"), Reading("crash"), ""),
        (Reading("reads", ONE), Reading("refuses"), "reads, refuses"),
        (Reading("panic"), Reading("refuses"), "panic, refuses"),
        (Reading("reads", ONE), Reading("reads", ONE.slice(1)), "other numbers of rows"),
        (Reading("reads", ONE), Reading("reads", pa.table({"a": [1, 2]})), "other types"),
        (Reading("reads", ONE), Reading("reads", ONE.take([0, 0])), "other values"),
    ],
)
def test_kinds(first, second, kind):
    """Results, then numbers of rows, types, values; equal readings have no kind."""
    assert kind == signature(first, second)


@given(st.sets(st.integers(0, 40), min_size=1), st.integers(41, 60))
def test_the_minimal_subset_is_found(needed, size):
    """Exactly the needed items remain."""
    assert sorted(needed) == minimal(range(size), lambda some: needed <= set(some))


PART_ROWS = pa.table(
    {
        "a": pa.array([1, 2, 3, 4], pa.int32()),
        "s": pa.array([{"x": i, "y": [str(i)] * i} for i in range(4)]),
        "t": pa.array(["p", None, "", "q"]),
        "v": pa.array([[1.0, 2.0]] * 4, pa.list_(pa.float32(), 2)),
    }
)


def write(path: Path, version: str, num_pages: int = 1) -> bytes:
    """The rows once for each page, in a file."""
    with LanceFileWriter(path, PART_ROWS.schema, version=version, data_cache_bytes=1) as writer:
        for _ in range(num_pages):
            writer.write_batch(PART_ROWS)
    return path.read_bytes()


def read(path: Path, data: bytes) -> pa.Table:
    path.write_bytes(data)
    return LanceFileReader(str(path)).read_all().to_table()


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3"])
def test_fields_and_pages_can_be_removed(tmp_path, version):
    """The others are read as before; the file is smaller."""
    data = write(tmp_path / "a.lance", version, num_pages=3)
    parts = parse_file(data)
    fewer = with_fields(parts, [1, 3])
    whole = read(tmp_path / "b.lance", assemble(parts))

    assert (4, 12) == (parts.num_fields, whole.num_rows)
    assert pa.concat_tables([PART_ROWS] * 3).equals(whole)
    assert whole.select(["s", "v"]).equals(read(tmp_path / "c.lance", assemble(fewer)))
    assert len(assemble(fewer)) < len(assemble(parts)) <= len(data) + 256
    if parts.num_pages:
        some = read(tmp_path / "d.lance", assemble(with_pages(parts, [0, 2])))
        assert pa.concat_tables([PART_ROWS] * 2).equals(some)

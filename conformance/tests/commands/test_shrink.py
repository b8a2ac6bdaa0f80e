"""`shrink`: from a file two adapters disagree about to a draft of a case."""

import re
import sys
from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lance_conformance import cases
from lance_conformance.cli import app
from lance_conformance.stored import materialised
from pylanceref.file import LanceFileReader, LanceFileWriter
from typer.testing import CliRunner

SLIP = Path(__file__).parents[1] / "fakes" / "slip.py"
REFERENCE = f"{sys.executable} -m lance_conformance.adapters.reference"
CLAUSE = "L.file.footer.magic"
FIXTURES = Path(__file__).parents[3] / "fixtures"

ROWS = pa.table(
    {
        "a": pa.array(range(10, 18), pa.int32()),
        "b": pa.array([None if i == 5 else str(i) for i in range(8)]),
    }
)


def call(path: Path, other: str, out: Path, *arguments: str) -> tuple[int, str]:
    """Shrink what the reference and another adapter disagree about."""
    sides = ["--disagree", REFERENCE, other, "--seconds", "60", "--clause", CLAUSE]
    result = CliRunner().invoke(app, ["shrink", str(path), *sides, "--out", str(out), *arguments])
    return result.exit_code, result.output


def draft(out: Path) -> cases.Case:
    """The draft below a folder: a manifest that the schema knows."""
    (path,) = out.rglob("case.json")
    return cases.load_case(path, out)


@pytest.mark.parametrize(
    ("mode", "rows", "kind"),
    [
        ("wrong", {"a": [13]}, "other values"),
        ("dies", {"b": [None]}, "reads, crash"),
    ],
)
def test_rows_are_shrunk_to_the_one_that_matters(tmp_path, mode, rows, kind):
    """Of 8 rows and two columns one cell is left; the draft expects what the reference reads."""
    path = tmp_path / "data.lance"
    with LanceFileWriter(path, ROWS.schema, version="2.1") as writer:
        writer.write_batch(ROWS)
    code, told = call(path, f"{sys.executable} {SLIP} {mode}", tmp_path / "out")
    case = draft(tmp_path / "out")

    assert 0 == code, told
    assert told.startswith(kind)
    assert rows == LanceFileReader(str(case.input_root)).read_all().to_table().to_pydict()
    assert "draft" == case.manifest["status"]
    assert case.manifest["note"].startswith(kind)


def test_tables_lose_the_files_that_do_not_matter(tmp_path):
    """Versions of before, transactions and fragments without the value are left out."""
    table = tmp_path / "table"
    for start in (0, 4):
        pylanceref.write_dataset(ROWS.slice(start, 4), table, mode="append" if start else "create")
    code, told = call(table, f"{sys.executable} {SLIP} wrong", tmp_path / "out", "--budget", "30")
    files = draft(tmp_path / "out").manifest["input"]["files"]

    assert 0 == code, told
    assert 1 == sum(name.startswith("_versions") for name in files)
    assert not any(name.startswith("_transactions") for name in files)


def test_agreement_is_exit_1(tmp_path):
    """Nothing to shrink, nothing written."""
    path = FIXTURES / "file/2.1/miniblock/int32/data.lance"
    code, told = call(path, f"{sys.executable} {SLIP} refuses", tmp_path / "out")

    assert 1 == code
    assert "both make the same of it" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("file/2.1/container/neg-length/data.lance", "refuses, reads"),
        ("table/any/manifest/lint-index-covering/dataset", "reads, refuses"),
    ],
)
def test_known_divergences_of_the_oracle_are_made_smaller(tmp_path, name, kind):
    """Bytes that the oracle is known to get wrong stay such bytes, and get fewer or no more."""
    oracle = f"{sys.executable} -m lance_conformance.adapters.pylance"
    code, told = call(materialised(FIXTURES / name), oracle, tmp_path / "out", "--budget", "8")

    assert 0 == code, told
    assert draft(tmp_path / "out").manifest["note"].startswith(kind)
    sizes = [int(size) for size in re.findall(r"(\d+) bytes", told)]
    assert sizes[-1] <= sizes[0]

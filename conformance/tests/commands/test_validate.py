"""`validate`: what it prints and how it exits."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.cli import app
from lance_conformance.stored import materialised
from lanceref.storage import open_store
from typer.testing import CliRunner

FIXTURES = Path(__file__).parents[3] / "fixtures"
GOOD = FIXTURES / "file/2.1/miniblock/int32/data.lance"
TABLE = materialised(FIXTURES / "table/any/deletions/arrow/dataset")
LINT = materialised(FIXTURES / "file/2.1/miniblock/lint-int32-padding/data.lance")


def _call(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["validate", *map(str, arguments)])
    return result.exit_code, result.output


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A file with another magic."""
    path = tmp_path / "broken.lance"
    path.write_bytes(GOOD.read_bytes()[:-1] + b"X")
    return path


@pytest.mark.parametrize("arguments", [(GOOD,), (TABLE,), (TABLE, "--deep")])
def test_what_is_clean_exits_with_0(arguments):
    """A file, a table, and a table with the content of its files."""
    code, told = _call(*arguments)

    assert 0 == code
    assert "clean" in told


def test_a_broken_must_exits_with_1(broken):
    """The clause is named."""
    code, told = _call(broken)

    assert 1 == code
    assert "MUST   L.file.footer.magic" in told


def test_several_paths_have_one_summary_and_exit_code(broken, tmp_path):
    """All are reported; the worst decides: a path that is not there, then a broken MUST."""
    code, told = _call(GOOD, broken, GOOD)
    gone, after = _call(tmp_path / "none.lance", broken)

    assert (1, 2) == (code, gone)
    assert "MUST   L.file.footer.magic" in told and told.count(f"{GOOD}: clean") == 1
    assert told.endswith("2 paths: 1 clean, 1 with a broken MUST\n")
    assert "MUST   L.file.footer.magic" in after and "no such path" in after
    assert "2 paths: 0 clean, 1 with a broken MUST, 1 cannot be read" in after
    assert 0 == _call(GOOD, TABLE)[0]


def test_several_paths_in_other_forms(broken):
    """One JSON array, one XML document, and no table."""
    found = json.loads(_call(GOOD, broken, "--format", "json")[1])
    suites = ElementTree.fromstring(_call(GOOD, broken, "--format", "junit")[1])

    assert [str(GOOD), str(broken)] == [one["path"] for one in found]
    assert ["0", "1"] == [suite.get("failures") for suite in suites]
    assert 2 == _call(GOOD, broken, "--output", "x.jsonl")[0]


def test_an_empty_file_is_a_finding(tmp_path):
    """Not wrong use."""
    path = tmp_path / "empty.lance"
    path.touch()

    assert 1 == _call(path)[0]


def test_a_file_that_reads_well_may_break_a_writers_clause():
    """The lint cases of the suite exit with 1 too."""
    assert (1, True) == (_call(LINT)[0], "L.page.miniblock.padding" in _call(LINT)[1])


def test_nothing_at_the_path_exits_with_2(tmp_path):
    """A wrong name is wrong use."""
    assert 2 == _call(tmp_path / "none.lance")[0]


def test_json_and_junit(broken):
    """Both parse and hold the same clauses as the text."""
    told = json.loads(_call(broken, "--format", "json")[1])
    suite = ElementTree.fromstring(_call(broken, "--format", "junit")[1])
    clauses = [finding["clause"] for finding in told["findings"]]

    assert "L.file.footer.magic" in clauses
    assert clauses == [case.get("name") for case in suite]


def test_a_uri_is_validated():
    """A table and a file of an object store; what is not there exits with 2."""
    options = ("--storage-option", "client_max_retries=1")
    pylanceref.write_dataset(pa.table({"a": [1]}), "shared-memory://validated/t")
    (file,) = open_store("shared-memory://validated/t/data").list("")

    assert 0 == _call("shared-memory://validated/t", "--deep", *options)[0]
    assert 0 == _call(f"shared-memory://validated/t/data/{file}")[0]
    assert 2 == _call("shared-memory://validated/none")[0]
    assert 2 == _call("gopher://validated/none")[0]
    assert 2 == _call("shared-memory://validated/t", "--storage-option", "nonsense")[0]


def test_every_executor_prints_the_same(broken, tmp_path):
    """Processes find what the loop finds; the findings are also a table."""
    (tmp_path / "t").mkdir()
    output = tmp_path / "found.jsonl"
    told = [_call(TABLE, "--deep", "--executor", one) for one in ("loop", "process")]
    assert told[0] == told[1]
    assert 1 == _call(broken, "--output", output)[0]
    (row,) = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    assert "L.file.footer.magic" == row["clause"]


def test_a_table_of_findings_has_a_known_suffix(broken):
    """Another suffix is wrong use, and says which there are."""
    code, told = _call(broken, "--output", "found.csv")
    assert 2 == code
    assert ".parquet" in told

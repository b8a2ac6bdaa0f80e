"""`explain` and `validate`: what they print and how they exit."""

import json
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.cli import app
from lance_conformance.suite.case_storage import case_folder, materialise
from lanceref.storage import open_store
from typer.testing import CliRunner

FIXTURES = Path(__file__).parents[3] / "fixtures"
GOOD = FIXTURES / "file/2.1/miniblock/int32/data.lance"


def _call(command: str, *arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [command, *map(str, arguments)])
    return result.exit_code, result.output


_explain, _validate = partial(_call, "explain"), partial(_call, "validate")
MANIFEST = next(case_folder(FIXTURES / "table/any/manifest/plain").rglob("*.manifest"))


def test_a_file_and_a_manifest_are_explained():
    """Exit 0, and every byte has an owner."""
    for path in (GOOD, MANIFEST):
        code, output = _explain(path)

        assert 0 == code
        assert "(100.0 %)" in output


def test_damage_exits_with_1(tmp_path):
    """What can be explained still is."""
    broken = tmp_path / "broken.lance"
    broken.write_bytes(GOOD.read_bytes()[:-1] + b"X")
    code, output = _explain(broken)

    assert 1 == code and "L.file.footer.magic" in output


def test_other_forms(tmp_path):
    """JSON parses, --kinds is short, --hex is longer, --html writes a page."""
    plain = _explain(GOOD)[1]
    page = tmp_path / "page.html"

    assert 346 == json.loads(_explain(GOOD, "--json")[1])["size"]
    assert _explain(GOOD, "--kinds")[1] in plain
    assert len(plain) < len(_explain(GOOD, "--hex")[1])
    assert 0 == _explain(GOOD, "--html", page)[0]
    assert page.read_text("utf-8").startswith("<!doctype html>")


def test_parts_of_the_tree():
    """The owners of one byte with their clauses, one column, the upper levels."""
    list_ = FIXTURES / "file/2.1/levels/list-struct/data.lance"
    whole = _explain(list_)[1]
    owners = _explain(list_, "--at", "0x42")[1].splitlines()[2:]
    column = _explain(list_, "--column", "c")[1]
    upper = _explain(list_, "--depth", "1")[1]

    assert ["field c", "column 0 page 0", "chunk 0", "size of repetition = 8  [u16]"] == [
        line.split(None, 2)[2].removesuffix("  L.page.miniblock.chunk-header") for line in owners
    ]
    assert "L.page.miniblock.chunk-header" in owners[2]
    assert "levels" in column and "footer" not in column and column.splitlines()[3] in whole
    assert "footer" in upper and "major" not in upper


def test_parts_that_are_not_there_exit_with_2():
    """A byte after the end, a column of another name, no number, and another form."""
    assert "no byte 346" in _explain(GOOD, "--at", "346")[1]
    assert "no column 'zz'" in _explain(GOOD, "--column", "zz")[1]
    for wrong in (("--at", "346"), ("--column", "zz"), ("--at", "x"), ("--depth", "1", "--json")):
        assert 2 == _explain(GOOD, *wrong)[0]


def test_a_uri_is_explained():
    """An object as a file."""
    open_store("shared-memory://explained").put("x.lance", GOOD.read_bytes())
    code, output = _explain("shared-memory://explained/x.lance", "--hex")

    assert 0 == code and "(100.0 %)" in output
    assert 2 == _explain("shared-memory://explained/none.lance")[0]


def test_what_is_no_file_exits_with_2(tmp_path):
    """A missing file is named once; of a directory a table, for which `validate` is named."""
    (tmp_path / "t" / "_versions").mkdir(parents=True)
    missing, plain, table = (_explain(tmp_path / name) for name in ("none", "", "t"))
    output = [" ".join(text.replace("│", " ").split()) for _, text in (missing, plain, table)]

    assert (2, 2, 2) == (missing[0], plain[0], table[0])
    assert 1 == output[0].count("no such file")
    assert "is a directory" in output[1]
    assert "lance-conformance validate" in table[1]


TABLE = materialise(FIXTURES / "table/any/deletions/arrow/dataset")
LINT = materialise(FIXTURES / "file/2.1/miniblock/lint-int32-padding/data.lance")


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A file with another magic."""
    path = tmp_path / "broken.lance"
    path.write_bytes(GOOD.read_bytes()[:-1] + b"X")
    return path


@pytest.mark.parametrize("arguments", [(GOOD,), (TABLE,), (TABLE, "--deep")])
def test_what_is_clean_exits_with_0(arguments):
    """A file, a table, and a table with the content of its files."""
    code, output = _validate(*arguments)

    assert 0 == code and "clean" in output


def test_a_broken_must_exits_with_1(broken):
    """The clause is named."""
    code, output = _validate(broken)

    assert 1 == code and "MUST   L.file.footer.magic" in output


def test_several_paths_have_one_summary_and_exit_code(broken, tmp_path):
    """All are reported; the worst decides: a path that is not there, then a broken MUST."""
    code, output = _validate(GOOD, broken, GOOD)
    missing_path, after = _validate(tmp_path / "none.lance", broken)

    assert (1, 2) == (code, missing_path)
    assert "MUST   L.file.footer.magic" in output and output.count(f"{GOOD}: clean") == 1
    assert output.endswith("2 paths: 1 clean, 1 with a broken MUST\n")
    assert "MUST   L.file.footer.magic" in after and "no such path" in after
    assert "2 paths: 0 clean, 1 with a broken MUST, 1 cannot be read" in after
    assert 0 == _validate(GOOD, TABLE)[0]


def test_a_version_is_chosen_and_files_of_tagged_ones_are_looked_for(tmp_path):
    """The latest version is clean, and an older one that lacks a file is not."""
    uri, rows = tmp_path / "t", pa.table({"a": [1, 2]})
    made = pylanceref.write_dataset(rows, uri)
    made.delete("a = 1")
    pylanceref.write_dataset(rows, uri, mode="overwrite")
    next((uri / "_deletions").iterdir()).unlink()
    assert (0, f"{uri} (version 3): clean\n") == _validate(uri)
    assert 1 == _validate(uri, "--version", "2")[0]
    made.tags.create("whole", 1)
    assert 0 == _validate(uri)[0]
    made.tags.create("gold", 2)
    code, output = _validate(uri)
    assert 1 == code and "MUST   L.table.files.exist" in output


def test_several_paths_in_other_forms(broken):
    """One JSON array, one XML document, and no table."""
    found = json.loads(_validate(GOOD, broken, "--format", "json")[1])
    suites = ElementTree.fromstring(_validate(GOOD, broken, "--format", "junit")[1])

    assert [str(GOOD), str(broken)] == [one["path"] for one in found]
    assert ["0", "1"] == [suite.get("failures") for suite in suites]
    assert 2 == _validate(GOOD, broken, "--output", "x.jsonl")[0]


def test_an_empty_file_is_a_finding(tmp_path):
    """Not wrong use."""
    path = tmp_path / "empty.lance"
    path.touch()

    assert 1 == _validate(path)[0]


def test_a_file_that_reads_well_may_break_a_writers_clause():
    """The lint cases of the suite exit with 1 too."""
    assert (1, True) == (_validate(LINT)[0], "L.page.miniblock.padding" in _validate(LINT)[1])


def test_nothing_at_the_path_exits_with_2(tmp_path):
    """A wrong name is wrong use."""
    assert 2 == _validate(tmp_path / "none.lance")[0]


def test_json_and_junit(broken):
    """Both parse and hold the same clauses as the text."""
    output = json.loads(_validate(broken, "--format", "json")[1])
    suite = ElementTree.fromstring(_validate(broken, "--format", "junit")[1])
    clauses = [finding["clause"] for finding in output["findings"]]

    assert "L.file.footer.magic" in clauses
    assert clauses == [case.get("name") for case in suite]


def test_a_uri_is_validated():
    """A table and a file of an object store; what is not there exits with 2."""
    options = ("--storage-option", "client_max_retries=1")
    pylanceref.write_dataset(pa.table({"a": [1]}), "shared-memory://validated/t")
    (file,) = open_store("shared-memory://validated/t/data").list("")

    assert 0 == _validate("shared-memory://validated/t", "--deep", *options)[0]
    assert 0 == _validate(f"shared-memory://validated/t/data/{file}")[0]
    assert 2 == _validate("shared-memory://validated/none")[0]
    assert 2 == _validate("gopher://validated/none")[0]
    assert 2 == _validate("shared-memory://validated/t", "--storage-option", "nonsense")[0]


def test_every_executor_prints_the_same(broken, tmp_path):
    """Processes find what the loop finds; the findings are also a table."""
    (tmp_path / "t").mkdir()
    output = tmp_path / "found.jsonl"
    printed = [_validate(TABLE, "--deep", "--executor", one) for one in ("loop", "process")]
    assert printed[0] == printed[1]
    assert 1 == _validate(broken, "--output", output)[0]
    (row,) = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    assert "L.file.footer.magic" == row["clause"]


def test_a_table_of_findings_has_a_known_suffix(broken):
    """Another suffix is wrong use, and says which there are."""
    code, output = _validate(broken, "--output", "found.csv")
    assert 2 == code and ".parquet" in output

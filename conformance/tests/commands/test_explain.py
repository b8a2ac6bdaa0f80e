"""`explain`: what it prints and how it exits."""

import json
from pathlib import Path

from lance_conformance.cli import app
from lance_conformance.stored import case_folder
from lanceref.storage import open_store
from typer.testing import CliRunner

FIXTURES = Path(__file__).parents[3] / "fixtures"
GOOD = FIXTURES / "file/2.1/miniblock/int32/data.lance"
MANIFEST = next(case_folder(FIXTURES / "table/any/manifest/plain").rglob("*.manifest"))


def _call(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["explain", *map(str, arguments)])
    return result.exit_code, result.output


def test_a_file_and_a_manifest_are_explained():
    """Exit 0, and every byte has an owner."""
    for path in (GOOD, MANIFEST):
        code, told = _call(path)

        assert 0 == code
        assert "(100.0 %)" in told


def test_damage_exits_with_1(tmp_path):
    """What can be explained still is."""
    broken = tmp_path / "broken.lance"
    broken.write_bytes(GOOD.read_bytes()[:-1] + b"X")
    code, told = _call(broken)

    assert 1 == code
    assert "L.file.footer.magic" in told


def test_no_file_exits_with_2(tmp_path):
    """A folder is no file either."""
    assert 2 == _call(tmp_path / "none.lance")[0]
    assert 2 == _call(tmp_path)[0]


def test_other_forms(tmp_path):
    """JSON parses, --kinds is short, --hex is longer, --html writes a page."""
    plain = _call(GOOD)[1]
    page = tmp_path / "page.html"

    assert 346 == json.loads(_call(GOOD, "--json")[1])["size"]
    assert _call(GOOD, "--kinds")[1] in plain
    assert len(plain) < len(_call(GOOD, "--hex")[1])
    assert 0 == _call(GOOD, "--html", page)[0]
    assert page.read_text("utf-8").startswith("<!doctype html>")


def test_parts_of_the_tree():
    """The owners of one byte with their clauses, one column, the upper levels."""
    list_ = FIXTURES / "file/2.1/levels/list-struct/data.lance"
    whole = _call(list_)[1]
    owners = _call(list_, "--at", "0x42")[1].splitlines()[2:]
    column = _call(list_, "--column", "c")[1]
    upper = _call(list_, "--depth", "1")[1]

    assert ["field c", "column 0 page 0", "chunk 0", "size of repetition = 8  [u16]"] == [
        line.split(None, 2)[2].removesuffix("  L.page.miniblock.chunk-header") for line in owners
    ]
    assert "L.page.miniblock.chunk-header" in owners[2]
    assert "levels" in column and "footer" not in column and column.splitlines()[3] in whole
    assert "footer" in upper and "major" not in upper


def test_parts_that_are_not_there_exit_with_2():
    """A byte after the end, a column of another name, no number, and another form."""
    assert "no byte 346" in _call(GOOD, "--at", "346")[1]
    assert "no column 'zz'" in _call(GOOD, "--column", "zz")[1]
    for wrong in (("--at", "346"), ("--column", "zz"), ("--at", "x"), ("--depth", "1", "--json")):
        assert 2 == _call(GOOD, *wrong)[0]


def test_a_uri_is_explained():
    """An object as a file."""
    open_store("shared-memory://explained").put("x.lance", GOOD.read_bytes())
    code, told = _call("shared-memory://explained/x.lance", "--hex")

    assert 0 == code
    assert "(100.0 %)" in told
    assert 2 == _call("shared-memory://explained/none.lance")[0]


def test_a_directory_is_wrong_use(tmp_path):
    """A table is distinguished from another directory, and `validate` is named for it."""
    (tmp_path / "t" / "_versions").mkdir(parents=True)
    plain, table = (_call(tmp_path), _call(tmp_path / "t"))

    assert (2, 2) == (plain[0], table[0])
    assert "is a directory" in " ".join(plain[1].replace("│", " ").split())
    assert "lance-conformance validate" in table[1]


def test_a_missing_file_is_named_once(tmp_path):
    """The reason is not doubled."""
    code, told = _call(tmp_path / "none")

    assert 2 == code
    assert 1 == " ".join(told.replace("│", " ").split()).count("no such file")

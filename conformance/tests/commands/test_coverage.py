"""`coverage`: what it prints and how it exits."""

import json
import shutil
from pathlib import Path

import pytest
from lance_conformance.cli import app
from lance_conformance.stored import case_folder
from typer.testing import CliRunner

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture
def one_case(tmp_path):
    """A folder of fixtures with a single case."""
    name = "file/2.1/miniblock/int32"
    shutil.copytree(case_folder(FIXTURES / name), tmp_path / name)
    return tmp_path


def _call(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["coverage", *map(str, arguments)])
    return result.exit_code, result.output


def test_what_is_missing_is_named_and_fails(one_case):
    """One file shows little: exit 1, the gaps by axis, the totals at the end, 80 columns."""
    code, told = _call("--fixtures", one_case)

    assert 1 == code
    assert "layout in 2.1: 1 of 4\n  mini_block_layout x1" in told
    assert "layout in 2.1: constant_layout, full_zip_layout, blob_layout" in told
    assert "bytes with an owner: 100.00 % of 346 in 1 files" in told
    assert max(map(len, told.splitlines())) <= 80


def test_json_has_every_count(one_case):
    """The same counts, by axis and member."""
    document = json.loads(_call("--fixtures", one_case, "--json")[1])

    assert {"read": 1, "refused": 0} == document["axes"]["layout in 2.1"]["mini_block_layout"]
    assert ["layout in 2.1", "blob_layout"] in document["gaps"]
    assert {} == document["unowned"]

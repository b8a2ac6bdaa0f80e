"""Validation at scale: the same findings whoever looks, and nothing left out."""

from pathlib import Path

import lanceref
import pyarrow as pa
import pytest
from lanceref import validation
from lanceref.errors import NotFound
from lanceref.jobs import Loop, Processes
from lanceref.validate import validate
from lanceref.validation import Unit, validate_with

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture
def table(tmp_path):
    """A table of stable row ids in five fragments, with deletions and two indices."""
    rows = pa.table({"a": range(100), "b": [str(i % 7) for i in range(100)]})
    made = lanceref.write_dataset(
        rows, str(tmp_path / "t"), max_rows_per_file=20, enable_stable_row_ids=True
    )
    made.delete("a % 10 = 3")
    made.create_scalar_index("a", "BTREE")
    made.create_scalar_index("b", "BITMAP")
    return made


def damage(path, at):
    """Turn one byte of a file."""
    data = bytearray(path.read_bytes())
    data[at] ^= 0x20
    path.write_bytes(data)


def units(report):
    return [one.unit.kind for one in report.checked]


def test_a_sound_table_is_looked_at_whole(table, monkeypatch):
    """Every fragment and segment is a unit or part of one, and nothing is found."""
    monkeypatch.setattr(validation, "GROUP_FRAGMENTS", 2)
    report = validate_with(Loop(), table.uri, deep=True)
    assert report.findings == []
    assert report.version == table.version
    assert units(report) == [
        "table", "fragments", "fragments", "fragments", "identities", "indices",
        "segment", "segment", "log", "rows", "rows",
    ]  # fmt: skip
    groups = [one.unit.fragments for one in report.checked if one.unit.fragments]
    assert groups == [(0, 1), (2, 3), (4,)]
    assert units(validate_with(Loop(), table.uri)) == [
        "table", "fragments", "fragments", "fragments", "indices", "segment", "segment", "log",
    ]  # fmt: skip


def test_processes_find_what_the_loop_finds(table, monkeypatch):
    """A damaged data file, deletion file and index: the same findings in the same order, which are
    those of `validate`."""
    root = Path(table.uri)
    last = table.get_fragments()[-1].data_files()[0].path
    damage(root / "data" / last, -4)
    damage(next(root.glob("_deletions/0-*")), 0)
    damage(min(root.glob("_indices/*/*")), -4)
    expected = validate_with(Loop(), table.uri, deep=True)
    assert len({one.file for one in expected.findings}) == 3
    assert expected == validate_with(Processes(2), table.uri, deep=True)
    key = repr
    assert sorted(expected.findings, key=key) == sorted(validate(table.uri, deep=True), key=key)


def negatives():
    """Every damaged table: of tables, transactions and indices."""
    for prefix in ("lint", "neg"):
        for path in sorted(FIXTURES.glob(f"*/any/*/{prefix}-*/dataset")):
            yield pytest.param(str(path), id="-".join(path.parts[-4:-1]))


@pytest.mark.parametrize("path", list(negatives()))
def test_damaged_tables_are_judged_as_by_validate(path):
    """For each damaged fixture: the same findings as `validate`, and not one more."""
    given = sorted(map(repr, validate(path, deep=True)))
    assert sorted(map(repr, validate_with(Loop(), path, deep=True).findings)) == given


def test_a_file_is_one_unit():
    """A data file is checked whole; a path of nothing is NotFound."""
    path = FIXTURES / "file/2.1/container/two-columns/data.lance"
    report = validate_with(Loop(), path)
    assert [one.unit for one in report.checked] == [Unit("file")]
    with pytest.raises(NotFound):
        validate_with(Loop(), path.with_name("none"))

"""Validation at scale: the same findings whoever looks, and nothing left out."""

from pathlib import Path

import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.stored import case_folder
from lanceref.core.errors import NotFound
from lanceref.validate import validate
from lanceref_spark import validation
from lanceref_spark.jobs import Loop, Processes
from lanceref_spark.validation import Unit, validate_with

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture
def table(tmp_path):
    """A table of stable row ids in five fragments, with deletions and two indices."""
    rows = pa.table({"a": range(100), "b": [str(i % 7) for i in range(100)]})
    made = pylanceref.write_dataset(
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


@pytest.mark.parametrize("version", ["0.1", "2.0", "2.1", "2.3"])
def test_a_large_fragment_is_shared_out_by_its_pages(version, tmp_path, monkeypatch):
    """Many units decode its files, each page in one of them, and find what `validate` finds."""
    rows = pa.table({"a": range(9000), "b": [[str(i)] * (i % 3) for i in range(9000)]})
    path = tmp_path / "t"
    made = pylanceref.write_dataset(rows, str(path), data_storage_version=version)
    file = path / "data" / made.get_fragments()[0].data_files()[0].path
    monkeypatch.setattr(validation, "GROUP_BYTES", -(-file.stat().st_size // 4))
    report = validate_with(Loop(), str(path), deep=True)
    assert report.findings == []
    assert units(report).count("pages") == (0 if version == "0.1" else 4)
    for at in range(100, file.stat().st_size, file.stat().st_size // 12):
        damage(file, at)
        found = {repr(one) for one in validate_with(Loop(), str(path), deep=True).findings}
        assert found >= {repr(one) for one in validate(str(path), deep=True)}
        damage(file, at)


def test_a_size_that_no_file_has_makes_no_endless_list_of_units(table, monkeypatch):
    """A manifest claims a file of 2^62 bytes: as many shares as there may be, and a finding."""
    monkeypatch.setattr(validation, "MOST_SHARES", 3)
    fragment = table.get_fragments()[0].metadata
    fragment.files[0].file_size_bytes = 1 << 62
    monkeypatch.setattr(validation, "GROUP_BYTES", 1 << 20)
    operation = pylanceref.LanceOperation.Overwrite(table.schema, [fragment])
    claimed = pylanceref.LanceDataset.commit(table.uri, operation)
    report = validate_with(Loop(), claimed.uri, deep=True)
    assert units(report).count("pages") == 3
    assert report.findings


def negatives():
    """Every damaged table: of tables, transactions and indices."""
    for prefix in ("lint", "neg"):
        for path in sorted(FIXTURES.glob(f"*/any/*/{prefix}-*")):
            yield pytest.param(path, id="-".join(path.parts[-3:]))


@pytest.mark.parametrize("home", list(negatives()))
def test_damaged_tables_are_judged_as_by_validate(home):
    """For each damaged fixture: the same findings as `validate`, and not one more."""
    path = case_folder(home) / "dataset"
    given = sorted(map(repr, validate(path, deep=True)))
    assert sorted(map(repr, validate_with(Loop(), path, deep=True).findings)) == given


def test_a_file_is_one_unit():
    """A data file is checked whole; a path of nothing is NotFound."""
    path = FIXTURES / "file/2.1/container/two-columns/data.lance"
    report = validate_with(Loop(), path)
    assert [one.unit for one in report.checked] == [Unit("file")]
    with pytest.raises(NotFound):
        validate_with(Loop(), path.with_name("none"))

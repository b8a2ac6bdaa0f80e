"""What changed between versions."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import VersionNotFound


def _made(module, root, *, stable=True):
    """Versions: 1 written, 2 appended, 3 updated, 4 deleted, 5 merged, 6 and 7 compacted."""
    module.write_dataset(
        pa.table({"a": range(5), "b": list("abcde")}), root, enable_stable_row_ids=stable
    )
    module.write_dataset(pa.table({"a": [7, 8], "b": ["x", "y"]}), root, mode="append")
    made = module.dataset(root)
    made.update({"b": "'u'"}, where="a = 1 OR a = 8")
    made.delete("a = 2")
    merge = made.merge_insert("a").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(pa.table({"a": [3, 100], "b": ["m", "n"]}))
    made.optimize.compact_files()
    return module.dataset(root)


def _values(reader, column="a"):
    return sorted(reader.read_all()[column].to_pylist())


@pytest.mark.parametrize(
    ("versions", "inserted", "updated", "deleted"),
    [
        ({"compared_against": 1}, [7, 8, 100], [1, 3], [2]),
        ({"compared_against": 2}, [100], [1, 3, 8], [2]),
        ({"begin_version": 2, "end_version": 4}, [], [1, 8], [2]),
        ({"begin_version": 1, "end_version": 3}, [7, 8], [1], []),
        ({"begin_version": 5, "end_version": 7}, [], [], []),
        ({"begin_version": 3, "end_version": 3}, [], [], []),
    ],
)
def test_rows_come_change_and_go(tmp_path, versions, inserted, updated, deleted):
    """As they are in the version that is open."""
    delta = _made(pylanceref, str(tmp_path)).delta(**versions)
    assert inserted == _values(delta.get_inserted_rows())
    assert updated == _values(delta.get_updated_rows())
    assert deleted == _values(delta.get_deleted_row_ids(), "_rowid")


def test_transactions_are_those_in_between(tmp_path):
    """After the earlier version, up to the later one."""
    delta = _made(pylanceref, str(tmp_path)).delta(begin_version=1, end_version=4)
    names = [type(one.operation).__name__ for one in delta.list_transactions()]
    assert ["Append", "Update", "Delete"] == names


def test_versions_that_make_no_sense_are_refused(tmp_path):
    """None, one of two, in the wrong order, gone, without stable ids."""
    made = _made(pylanceref, str(tmp_path / "s"))
    with pytest.raises(ValueError, match="Must specify either"):
        made.delta()
    for one in ({"begin_version": 1}, {"end_version": 2}):
        with pytest.raises(ValueError, match="Must specify both"):
            made.delta(**one)
    backwards = made.delta(begin_version=4, end_version=2)
    assert [] == _values(backwards.get_inserted_rows()) == backwards.list_transactions()
    with pytest.raises(ValueError, match="is newer than"):
        backwards.get_deleted_row_ids()
    with pytest.raises(VersionNotFound):
        made.delta(begin_version=7, end_version=8).list_transactions()
    plain = _made(pylanceref, str(tmp_path / "p"), stable=False).delta(1)
    assert [] == _values(plain.get_inserted_rows()) == _values(plain.get_updated_rows())
    with pytest.raises(ValueError, match="stable row ids"):
        plain.get_deleted_row_ids()


@pytest.mark.oracle
@pytest.mark.parametrize("begin", range(8))
def test_the_oracle_finds_the_same(tmp_path, begin):
    """Of every pair of versions of one table."""
    import lance

    theirs, ours = _made(lance, str(tmp_path)), pylanceref.dataset(tmp_path)
    for end in range(begin, 8):
        wanted = theirs.delta(begin_version=begin, end_version=end)
        found = ours.delta(begin_version=begin, end_version=end)
        assert len(wanted.list_transactions()) == len(found.list_transactions())
        for name in ("get_inserted_rows", "get_updated_rows"):
            assert getattr(wanted, name)().read_all().equals(getattr(found, name)().read_all())
        if begin:
            assert (
                wanted.get_deleted_row_ids()
                .read_all()
                .equals(found.get_deleted_row_ids().read_all())
            )

"""Indices of rows that a compaction moved."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.operations.compaction import moved_rows

TABLE = pa.table({"i": range(40)})


def test_a_worked_example(tmp_path):
    """Live rows of fragments 1 and 2 become fragment 7; rows of fragment 0 stay."""
    dataset = pylanceref.write_dataset(TABLE.slice(0, 9), tmp_path / "t", max_rows_per_file=3)
    dataset.delete("i in (4, 6)")
    old = dataset._snapshot.fragments[1:]
    moved = moved_rows([(old, [SimpleNamespace(id=7, physical_rows=4)])])
    keys = [0, 2, 1 << 32, 1 << 32 | 1, 1 << 32 | 2, 2 << 32, 2 << 32 | 1, 9 << 32]
    kept, now = moved(np.array(keys, np.uint64))
    assert kept.tolist() == [True, True, True, False, True, False, True, True]
    assert now.tolist() == [0, 2, 7 << 32, 7 << 32 | 1, 7 << 32 | 2, 9 << 32]


@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize("kind", ["BTREE", "BITMAP"])
def test_segments_cover_the_new_fragments(tmp_path, kind, stable):
    """By address they are written anew, by row id only their entry changes."""
    dataset = pylanceref.write_dataset(
        TABLE, tmp_path / "t", max_rows_per_file=10, enable_stable_row_ids=stable
    )
    dataset.create_scalar_index("i", kind)
    before = dataset.list_indices()[0]["uuid"]
    dataset.delete("i in (3, 33)")
    dataset.optimize.compact_files()
    (after,) = dataset.list_indices()
    assert list(after["fragment_ids"]) == [4]
    assert (after["uuid"] == before) is (stable and kind == "BITMAP")
    opened = pylanceref.dataset(dataset.uri)
    for value in (3, 4, 32, 33):
        found = opened.to_table(filter=f"i = {value}")["i"].to_pylist()
        assert found == ([] if value in (3, 33) else [value])


def _branch_to_compact(module, path):
    """Return a branch of two small fragments, with the index of the table it comes from."""
    made = module.write_dataset(TABLE, path, max_rows_per_file=20)
    made.create_scalar_index("i", "BTREE")
    return made.create_branch("dev", made.version)


def test_a_rewritten_segment_lies_in_its_own_branch(tmp_path):
    """Its entry no longer names the base of the files it was made from."""
    branch = _branch_to_compact(pylanceref, tmp_path / "t")
    assert branch._snapshot.manifest.indices[0].HasField("base_id")
    branch.optimize.compact_files()
    branch = pylanceref.dataset(tmp_path / "t").checkout_version(("dev", None))

    assert not branch._snapshot.manifest.indices[0].HasField("base_id")
    assert branch.to_table(filter="i = 7")["i"].to_pylist() == [7]


@pytest.mark.oracle
def test_the_oracle_looks_for_a_rewritten_segment_elsewhere(tmp_path):
    """D.index.rewritten-base: it refuses what it asks of its own index, and answers from ours."""
    import lance

    for module in (lance, pylanceref):
        path = str(tmp_path / module.__name__)
        _branch_to_compact(module, path).optimize.compact_files()
        theirs = lance.dataset(path).checkout_version(("dev", None))
        if module is lance:
            with pytest.raises(pa.ArrowInvalid, match="Not found"):
                theirs.to_table(filter="i = 7")
        else:
            assert theirs.to_table(filter="i = 7")["i"].to_pylist() == [7]


@pytest.mark.oracle
def test_an_index_of_no_field_stays_as_it_is(tmp_path):
    """D.txn.index-of-no-field: the rows below it are joined, it covers none of them."""
    import lance

    rows = TABLE.append_column("gone", TABLE["i"])
    old = lance.write_dataset(rows, tmp_path, max_rows_per_file=20)
    lance.dataset(tmp_path).drop_columns(["gone"])
    old.create_scalar_index("gone", "BTREE")
    made = pylanceref.dataset(tmp_path)
    assert [[1]] == [list(one.fields) for one in made._snapshot.manifest.indices]
    made.optimize.compact_files()

    made = pylanceref.dataset(tmp_path)
    (fragment,), (index,) = made.get_fragments(), made.list_indices()
    assert fragment.fragment_id not in index["fragment_ids"]
    assert TABLE == made.to_table()

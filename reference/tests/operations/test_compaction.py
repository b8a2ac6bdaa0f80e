"""Compaction: plan and groups."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.operations.compaction import CompactionRules, plan_compaction, write_group
from lanceref.storage.protocol import Draft
from lanceref.transactions.row_lineage import moved_ids

from tests.transactions import versions


def _table(path, *sizes, stable=False):
    start = 0
    for number, size in enumerate(sizes):
        made = pylanceref.write_dataset(
            pa.table({"a": range(start, start + size)}),
            path,
            mode="append" if number else "create",
            enable_stable_row_ids=stable,
        )
        start += size
    return made


def _groups(made, **options):
    groups = plan_compaction(made._snapshot, CompactionRules(**options))
    return [[rows.fragment.id for rows in group] for group in groups]


@pytest.mark.parametrize(
    ("sizes", "target", "groups"),
    [
        ([5, 5], 10, [[0, 1]]),
        ([5, 5], 5, []),
        ([5, 5, 20, 5], 10, [[0, 1]]),
        ([5, 5, 5, 5], 10, [[0, 1], [2, 3]]),
        ([5, 5, 5], 10, [[0, 1, 2]]),
        ([9, 1, 1, 9], 10, [[0, 1], [2, 3]]),
        ([3, 3, 3, 3, 3], 7, [[0, 1, 2, 3, 4]]),
        ([5], 10, []),
        ([20, 5, 20], 10, []),
    ],
)
def test_small_neighbours_are_joined(tmp_path, sizes, target, groups):
    """Never over a fragment that is long enough; one alone is left as it is."""
    assert groups == _groups(_table(tmp_path, *sizes), target_rows=target)


def test_deleted_rows_ask_for_it(tmp_path):
    """More than a tenth, or as the caller says."""
    made = _table(tmp_path, 20)
    made.delete("a < 2")
    assert [] == _groups(made, target_rows=10)
    made.delete("a < 3")
    assert [[0]] == _groups(made, target_rows=10)
    assert [] == _groups(made, target_rows=10, materialize_deletions=False)
    assert [] == _groups(made, target_rows=10, deletions_threshold=0.5)


def test_fragments_can_be_left_out(tmp_path):
    """By id, and by a number of them."""
    made = _table(tmp_path, 5, 5, 5, 5)

    assert [[2, 3]] == _groups(made, target_rows=10, excluded=frozenset([1]))
    assert [[0, 1]] == _groups(made, target_rows=10, max_source_fragments=3)


def test_differently_indexed_fragments_are_not_joined(tmp_path):
    """The index covers 0 and 1."""
    snapshot = _table(tmp_path, 5, 5, 5, 5)._snapshot
    indexed = versions.indexed(snapshot.manifest, versions.index("x", 0, [0, 1]))
    known = snapshot.indices.of(indexed.indices)
    indexed_snapshot = replace(snapshot, manifest=indexed, indices=known)
    groups = plan_compaction(indexed_snapshot, CompactionRules(100))

    assert [[0, 1], [2, 3]] == [[rows.fragment.id for rows in group] for group in groups]


def test_a_group_is_written_with_its_ids(tmp_path):
    """Live rows only, in their order, in fragments as even as can be; versions stay."""
    made = _table(tmp_path, 5, 5, stable=True)
    made.delete("a in (1, 2)")
    snapshot = made._snapshot
    new = write_group(snapshot, list(snapshot.fragments), CompactionRules(target_rows=4), Draft())

    assert [4, 4] == [one.physical_rows for one in new]
    assert [0, 3, 4, 5, 6, 7, 8, 9] == np.concatenate([moved_ids(one) for one in new]).tolist()
    assert all(one.inline_created_at_versions for one in new)


@pytest.mark.parametrize(
    ("rows", "target", "sizes"),
    [
        (9, 3, [3, 3, 3]),
        (8, 3, [4, 4]),
        (11, 3, [4, 4, 3]),
        (7, 2, [3, 2, 2]),
        (5, 3, [5]),
        (20, 7, [10, 10]),
    ],
)
def test_new_fragments_are_even(tmp_path, rows, target, sizes):
    """None is shorter than the target if all rows are not."""
    made = _table(tmp_path, rows)
    group = list(made._snapshot.fragments)
    new = write_group(made._snapshot, group, CompactionRules(target), Draft())

    assert sizes == [one.physical_rows for one in new]


def moved_twice(module, path):
    """Let a compaction leave an index as it is, and another one move the rows again."""
    uri = str(path)
    module.write_dataset(pa.table({"f": range(20)}), uri)
    more = pa.table({"f": range(20, 32)})
    module.write_dataset(more, uri, mode="append", max_rows_per_file=7)
    module.dataset(uri).create_scalar_index("f", "BTREE")
    module.dataset(uri).optimize.compact_files(target_rows_per_fragment=10, defer_index_remap=True)
    module.dataset(uri).optimize.compact_files()
    return [
        pylanceref.dataset(uri).to_table(filter=text).num_rows for text in ("f < 20", "f >= 20")
    ]


def test_rows_that_were_moved_before_are_in_the_index(tmp_path):
    """The fragments of both compactions are joined."""
    assert [20, 12] == moved_twice(pylanceref, tmp_path / "t")


@pytest.mark.oracle
def test_the_oracle_loses_rows_that_were_moved_before(tmp_path):
    """D.index.compaction-after-deferred."""
    import lance

    assert [20, 0] == moved_twice(lance, tmp_path / "t")


def _graph_moved(module, path):
    """Compact below a graph, one of whose rows is deleted; the graph stays as it is."""
    uri, vectors = str(path), pa.array(np.arange(160, dtype=np.float32))
    rows = pa.table({"k": range(20), "v": pa.FixedSizeListArray.from_arrays(vectors, 8)})
    made = module.write_dataset(rows, uri, max_rows_per_file=8)
    centroids = np.float32([[40] * 8, [120] * 8])
    made.create_index("v", "IVF_HNSW_FLAT", ivf_centroids=centroids)
    module.dataset(uri).delete("k = 3")
    module.dataset(uri).optimize.compact_files(target_rows_per_fragment=5, defer_index_remap=True)
    return module.dataset(uri)


NEAREST = {"column": "v", "q": [24.0] * 8, "k": 20, "nprobes": 2, "ef": 100}


def test_a_graph_whose_rows_moved_is_walked_over_deleted_ones(tmp_path):
    """The row that was deleted before they moved is passed over."""
    found = _graph_moved(pylanceref, tmp_path).to_table(nearest=NEAREST)

    assert {*range(20)} - {3} == {*found["k"].to_pylist()}


@pytest.mark.oracle
def test_the_oracle_refuses_a_graph_whose_rows_moved(tmp_path):
    """D.index.vector-graph-after-deferred: it leaves the deleted row out of the vectors alone."""
    import lance

    with pytest.raises(pa.ArrowInvalid, match="10 nodes"):
        _graph_moved(lance, tmp_path).to_table(nearest=NEAREST)

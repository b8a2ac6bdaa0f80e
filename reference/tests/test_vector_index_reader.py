"""Partitions of an index over vectors."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from pylanceref.vector_index_reader import VectorIndexReader

VECTORS = np.random.default_rng(7).random((64, 8), np.float32)


def _rows(start: int, end: int) -> pa.Table:
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(VECTORS[start:end].ravel()), 8)
    return pa.table({"i": np.arange(start, end), "v": vectors})


@pytest.fixture
def dataset(tmp_path):
    """An index in two segments."""
    table = pylanceref.write_dataset(_rows(0, 48), tmp_path)
    table = table.create_index("v", "IVF_FLAT", num_partitions=3)
    table.insert(_rows(48, 64))
    table.optimize.optimize_indices(num_indices_to_merge=0)
    return table


def test_every_row_is_in_one_partition(dataset):
    """With its vector where that is asked for, of every segment."""
    reader = VectorIndexReader(dataset, "v_idx")
    parts = [reader.read_partition(one, with_vector=True) for one in range(3)]
    table = pa.concat_tables(parts)
    ids = np.array(table["_rowid"])
    rows = np.where(ids < 1 << 32, ids, 48 + (ids & 0xFFFFFFFF)).astype(np.int64)
    assert list(range(64)) == sorted(rows.tolist())
    held = np.array(table["flat"].combine_chunks().values).reshape(-1, 8)
    assert np.array_equal(VECTORS[rows], held)
    alone = [reader.read_partition(one) for one in range(reader.num_partitions())]
    assert [part.select(["_rowid"]) for part in parts] == alone


def test_what_is_not_there_is_refused(dataset):
    """Partitions, indices, and those of other types."""
    reader = VectorIndexReader(dataset, "v_idx")
    for number in (-1, 3):
        with pytest.raises(IndexError, match="out of range"):
            reader.read_partition(number)
    dataset.create_scalar_index("i", "BTREE")
    with pytest.raises(ValueError, match="not vector index"):
        VectorIndexReader(dataset, "i_idx")
    with pytest.raises(KeyError):
        VectorIndexReader(dataset, "none")


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["IVF_FLAT", "IVF_SQ", "IVF_HNSW_FLAT"])
def test_the_oracle_reads_the_same(tmp_path, kind):
    """Columns and rows of an index of ours."""
    import lance
    from lance.dataset import VectorIndexReader as Theirs

    table = pylanceref.write_dataset(_rows(0, 64), tmp_path)
    table = table.create_index("v", kind, num_partitions=2)
    ours, theirs = VectorIndexReader(table, "v_idx"), Theirs(lance.dataset(tmp_path), "v_idx")
    assert theirs.num_partitions() == ours.num_partitions()
    for number in range(2):
        wanted = theirs.read_partition(number, with_vector=True).to_pylist()
        assert wanted == ours.read_partition(number, with_vector=True).to_pylist()

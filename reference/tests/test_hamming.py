"""Rows that are alike: of a table, of a part of it, of a partition of an index."""

from __future__ import annotations

import uuid

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import IndexNotFound
from pylanceref.vector import (
    get_ivf_partition_info,
    hamming_clustering_for_ivf_partition,
    hamming_clustering_for_range,
    hamming_clustering_for_sample,
)

A, B, C, D, E = 0, 255, 1, 0x0706050403020100, 3
HASHES = [A, A, B, D, B, C, E]
NEXT = 1 << 32
"""Row id of the first row of the second fragment."""


def _rows(hashes=HASHES):
    values = np.array(hashes, np.uint64).view(np.uint8)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(values), 8)
    floats = pa.FixedSizeListArray.from_arrays(pa.array(values.astype(np.float32)), 8)
    return pa.table({"id": range(len(hashes)), "h": lists, "f": floats})


def _clusters(reader) -> dict[int, list[int]]:
    found = reader.read_all().to_pydict()
    return dict(zip(found["representative"], found["duplicates"], strict=True))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """The same rows twice, each time with a segment of its own."""
    made = pylanceref.write_dataset(_rows(), tmp_path_factory.mktemp("hamming") / "t")
    made.create_index("h", index_type="IVF_FLAT", num_partitions=2, metric="hamming")
    made.create_scalar_index("id", "BTREE")
    made.insert(_rows())
    made.optimize.optimize_indices(["h_idx"], num_indices_to_merge=0)
    return made


@pytest.mark.parametrize(
    ("threshold", "found"),
    [
        (0, {0: [1], 2: [4]}),
        (1, {0: [1, 5, 6], 2: [4]}),
        (8, {0: [1, 2, 4, 5, 6]}),
        (64, {0: [1, 2, 3, 4, 5, 6]}),
    ],
)
def test_clusters_of_a_table(tmp_path, threshold, found):
    """A row that is like no other is in none."""
    made = pylanceref.write_dataset(_rows(), tmp_path)

    assert found == _clusters(hamming_clustering_for_sample(made, "h", None, threshold))


def test_rows_that_are_gone_or_without_a_hash_are_in_none(tmp_path):
    """Null is not the hash of zeros."""
    lists = _rows([A, A, A])["h"].combine_chunks()
    nulls = pa.array([A, None, None], pa.int64()).is_valid()
    held = pa.FixedSizeListArray.from_arrays(lists.values, 8, mask=pa.array([False, True, False]))
    made = pylanceref.write_dataset(pa.table({"h": held, "n": nulls}), tmp_path)
    assert {0: [2]} == _clusters(hamming_clustering_for_sample(made, "h", None, 0))
    made.delete("n")

    assert {} == _clusters(hamming_clustering_for_sample(made, "h", None, 0))


def test_a_sample_and_a_range(dataset):
    """So many rows; those that follow each other, as far as there are any."""
    drawn = _clusters(hamming_clustering_for_sample(dataset, "h", 4, 64))
    assert [3] == [len(one) for one in drawn.values()]
    assert {} == _clusters(hamming_clustering_for_sample(dataset, "h", 0, 64))
    assert {2: [4]} == _clusters(hamming_clustering_for_range(dataset, "h", 0, 2, 4, 1))
    last = _clusters(hamming_clustering_for_range(dataset, "h", 1, 5, 9, 64))
    assert {NEXT + 5: [NEXT + 6]} == last


def test_partitions_are_those_of_all_segments(dataset):
    """Or of chosen ones; together they have every row that is like another of its partition."""
    info = get_ivf_partition_info(dataset, "h_idx")
    assert 14 == sum(one["size"] for one in info)
    found = [
        _clusters(hamming_clustering_for_ivf_partition(dataset, "h_idx", one["partition_id"], 0))
        for one in info
    ]
    whole = {row: others for one in found for row, others in one.items()}
    assert [1, NEXT, NEXT + 1] == whole[0]
    assert {0, 2, 3, 5, 6} == set(whole)
    (first, _) = next(one.segments for one in dataset.describe_indices() if one.name == "h_idx")
    chosen = get_ivf_partition_info(dataset, "h_idx", index_segments=[first.uuid])
    assert 7 == sum(one["size"] for one in chosen)


def test_what_has_no_clusters_is_refused(dataset):
    """Columns of other types, fragments, rows, partitions and segments that there are not."""
    cases = [
        (lambda: hamming_clustering_for_sample(dataset, "x"), ValueError, "'x' not found"),
        (lambda: hamming_clustering_for_sample(dataset, "f"), ValueError, "<Float32, 8>"),
        (lambda: hamming_clustering_for_sample(dataset, "h", None, -1), OverflowError, "range"),
        (lambda: hamming_clustering_for_range(dataset, "h", 7, 0, 1), ValueError, "ID 7"),
        (lambda: hamming_clustering_for_range(dataset, "h", 0, 9, 1), ValueError, "start_row 9"),
        (lambda: get_ivf_partition_info(dataset, "no"), ValueError, "Index 'no' not found"),
        (lambda: get_ivf_partition_info(dataset, "id_idx"), ValueError, "got Int64"),
        (
            lambda: get_ivf_partition_info(dataset, "h_idx", index_segments=[]),
            ValueError,
            "must not be empty",
        ),
        (
            lambda: get_ivf_partition_info(dataset, "h_idx", index_segments=f"{uuid.uuid4()}"),
            TypeError,
            "not a single <class 'str'>",
        ),
        (
            lambda: get_ivf_partition_info(dataset, "h_idx", index_segments=[uuid.uuid4()]),
            IndexNotFound,
            "Lance index not found",
        ),
        (
            lambda: hamming_clustering_for_ivf_partition(dataset, "h_idx", 2, 0),
            ValueError,
            r"Partition ID 2 is out of range \(0..2\)",
        ),
    ]
    for act, kind, told in cases:
        with pytest.raises(kind, match=told):
            act()


@pytest.mark.oracle
@pytest.mark.parametrize("threshold", [0, 1, 8, 64])
def test_the_oracle_has_the_same_clusters(dataset, threshold):
    """Of the table, of rows of a fragment, of the partitions of our index."""
    import lance
    import lance.vector as theirs
    import pylanceref.vector as ours

    found = []
    for module, table in ((ours, dataset), (theirs, lance.dataset(dataset.uri))):
        readers = [
            module.hamming_clustering_for_sample(table, "h", None, threshold),
            module.hamming_clustering_for_range(table, "h", 1, 1, 5, threshold),
            module.hamming_clustering_for_ivf_partition(table, "h_idx", 0, threshold),
            module.hamming_clustering_for_ivf_partition(table, "h_idx", 1, threshold),
        ]
        found.append([one.read_all() for one in readers])
        found[-1].append(module.get_ivf_partition_info(table, "h_idx"))
    assert found[1] == found[0]

"""Vector index requests."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from lanceref.file.arrow_schema import schema_of
from lanceref.kernels.hnsw_graph import GraphParameters
from pylanceref.errors import ColumnMissing, ColumnRefused
from pylanceref.index_request import vector_request

SCHEMA = schema_of(
    pa.schema(
        {
            "v": pa.list_(pa.float32(), 4),
            "u": pa.list_(pa.uint8(), 4),
            "b": pa.list_(pa.int8(), 4),
            "m": pa.list_(pa.list_(pa.float32(), 4)),
            "i": pa.int64(),
        }
    )
)
CENTROIDS = np.arange(8, dtype=np.float32).reshape(2, 4)


def asked(column="v", index_type="IVF_FLAT", metric="L2", **given):
    """Return what is to be built."""
    return vector_request(SCHEMA, column, index_type, metric, given).parameters["vector"]


def test_defaults():
    """They are kept in the details."""
    found = asked(index_type="ivf_flat")
    assert ("IVF_FLAT", "l2", None) == (found.type.name, found.metric, found.num_partitions)
    assert {
        "lance.ivf.max_iters": "50",
        "lance.ivf.sample_rate": "256",
        "lance.ivf.shuffle_partition_batches": "10240",
        "lance.ivf.shuffle_partition_concurrency": "2",
        "lance.skip_transpose": "false",
    } == found.hints
    assert "2" == asked(index_type="IVF_HNSW_FLAT").hints["lance.hnsw.prefetch_distance"]
    assert GraphParameters(m=8) == asked(index_type="IVF_HNSW_FLAT", m=8).graph


def test_centroids(tmp_path):
    """They are an array, lists of fixed size, or a file of NumPy, and say how many there are."""
    np.save(tmp_path / "c.npy", CENTROIDS)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(CENTROIDS.ravel()), 4)
    for given in (
        {"ivf_centroids": CENTROIDS},
        {"ivf_centroids": lists},
        {"ivf_centroids_file": (tmp_path / "c.npy").as_uri()},
    ):
        found = asked(**given)
        assert (2, CENTROIDS.tolist()) == (found.num_partitions, found.centroids.tolist())


def test_numbers_that_are_not_whole():
    """They are made so, with a warning."""
    with pytest.warns(UserWarning, match="float"):
        assert 2 == asked(num_partitions=2.0).num_partitions


@pytest.mark.parametrize(
    ("error", "given"),
    [
        (ColumnMissing, {"column": "x"}),
        (ColumnRefused, {"column": "i"}),
        (ColumnRefused, {"column": "b"}),
        (ColumnRefused, {"column": ["v", "i"]}),
        (ValueError, {"metric": "x"}),
        (ValueError, {"metric": "hamming"}),
        (ValueError, {"column": "u"}),
        (ValueError, {"column": "m"}),
        (NotImplementedError, {"index_type": "IVF_FOO"}),
        (TypeError, {"num_partitions": "2"}),
        (ValueError, {"num_partitions": 0}),
        (OverflowError, {"num_partitions": -1}),
        (ValueError, {"sample_rate": 0}),
        (ValueError, {"max_iters": 0}),
        (ValueError, {"num_sub_vectors": 3}),
        (ValueError, {"ivf_centroids": CENTROIDS, "num_partitions": 3}),
        (ValueError, {"ivf_centroids": CENTROIDS[0]}),
        (ValueError, {"ivf_centroids": CENTROIDS[:, :2]}),
        (ValueError, {"ivf_centroids": CENTROIDS[:0]}),
        (ValueError, {"ivf_centroids": CENTROIDS, "ivf_centroids_file": "file:///x"}),
        (TypeError, {"ivf_centroids": CENTROIDS.astype(int)}),
        (TypeError, {"ivf_centroids": "x"}),
    ],
)
def test_wrong_arguments(error, given):
    """They raise what pylance raises."""
    with pytest.raises(error):
        asked(**given)


def test_a_codebook_may_be_a_tensor():
    """Of each part its codewords; it means what the same numbers mean as an array."""
    numbers = np.arange(2 * 256 * 2, dtype=np.float32).reshape(2, 256, 2)
    given = {"num_sub_vectors": 2, "ivf_centroids": np.zeros((1, 4), np.float32)}
    found = [
        vector_request(SCHEMA, "v", "IVF_PQ", "L2", {**given, "pq_codebook": book}).parameters[
            "vector"
        ]
        for book in (numbers, pa.FixedShapeTensorArray.from_numpy_ndarray(numbers))
    ]
    assert np.array_equal(*(one.storage["pq_codebook"] for one in found))


def test_a_codebook_is_for_products_only():
    """Another storage passes it over."""
    numbers = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(1024, np.float32)), 4)
    given = {"ivf_centroids": np.zeros((1, 4), np.float32), "pq_codebook": numbers}

    assert "pq_codebook" not in asked(index_type="IVF_SQ", **given).storage


def test_an_accelerator_is_not_used(caplog):
    """A request for one gives a warning; the index is the same."""
    with caplog.at_level("WARNING"):
        found = asked(index_type="IVF_HNSW_SQ", accelerator="cuda")
    assert "falling back to CPU" in caplog.text
    assert found.details() == asked(index_type="IVF_HNSW_SQ").details()

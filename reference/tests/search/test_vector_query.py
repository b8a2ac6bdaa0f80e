"""Vector queries."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.errors import QueryRefused
from lanceref.file.arrow_schema import schema_of
from lanceref.search.vector_query import vector_query

SCHEMA = schema_of(
    pa.schema(
        {
            "f": pa.list_(pa.float32(), 2),
            "u": pa.list_(pa.uint8(), 2),
            "i": pa.int64(),
            "m": pa.list_(pa.list_(pa.float16(), 2)),
            "b": pa.list_(pa.int8(), 2),
            "s": pa.struct({"v": pa.list_(pa.float64(), 2)}),
        }
    )
)


def asked(column="f", q=(1, 2), limit=None, **given):
    """Return a query."""
    return vector_query({"column": column, "q": q, **given}, SCHEMA, limit)


@pytest.mark.parametrize(
    "q",
    [
        [1, 2],
        (1.0, 2.0),
        np.array([1, 2]),
        pa.array([1, 2]),
        pa.array([1, 2], pa.float64()),
        pa.array([[1, 2]], pa.list_(pa.float16(), 2))[0],
    ],
)
def test_forms_of_a_vector(q):
    """A vector may be a list, an array or a value of a column; it gets the type of the column."""
    found = asked(q=q)
    assert ([[1, 2]], np.float32) == (found.vectors.tolist(), found.vectors.dtype)
    assert not found.batch
    assert np.float64 == asked("s.v", q=q).vectors.dtype


def test_several_vectors():
    """They are a batch, or one query where rows have several."""
    q = [[1, 2], [3, 4]]
    assert (q, True) == (asked(q=q).vectors.tolist(), asked(q=q).batch)
    found = asked("m", q=q)
    assert (q, False, np.float16) == (found.vectors.tolist(), found.batch, found.vectors.dtype)
    assert asked("m").vectors.shape == (1, 2)


def test_what_is_no_byte_is_zero():
    """Bytes are cut, not rounded, and what does not fit is 0."""
    assert [[27, 0]] == asked("u", q=[27.9, -1]).vectors.tolist()
    assert [[255, 0]] == asked("u", q=[255, 256]).vectors.tolist()
    assert [[0, 0]] == asked("u", q=[float("nan"), None]).vectors.tolist()


def test_how_many():
    """Without a number it is the limit, or 10."""
    assert 10 == asked().k
    assert 7 == asked(limit=7).k
    assert 3 == asked(limit=7, k=3).k


def test_metrics():
    """Names are taken in any case; without one it is hamming for bytes, l2 for others."""
    assert "l2" == asked(metric="Euclidean").metric
    assert "cosine" == asked(metric="COSINE").metric
    assert (None, "l2") == (asked().metric, asked().default_metric)
    assert "hamming" == asked("u").default_metric


@pytest.mark.parametrize(
    ("column", "metric", "named"),
    [("u", "l2", "UInt8"), ("f", "hamming", "Float32"), ("s.v", "hamming", "Float64")],
)
def test_a_metric_that_does_not_fit_is_told_with_the_type(column, metric, named):
    """Types have the names that pylance gives them."""
    with pytest.raises(QueryRefused, match=f"Distance type {metric} does not support {named} vec"):
        asked(column, metric=metric)


def test_partitions_to_look_at():
    """`nprobes` is both ends, unless an effort is given."""
    assert (3, 3) == asked(nprobes=3).nprobes
    assert (1, None) == asked(minimum_nprobes=1).nprobes
    assert (None, None) == asked(nprobes=3, search_effort=0.5).nprobes


@pytest.mark.parametrize(
    "given",
    [
        {"k": 0},
        {"nprobes": 0},
        {"minimum_nprobes": -1},
        {"minimum_nprobes": 2, "maximum_nprobes": 1},
        {"refine_factor": 0},
        {"ef": 0},
        {"query_parallelism": -2},
        {"approx_mode": "x"},
        {"distance_range": (1,)},
        {"search_effort": 2},
        {"limit": 0},
        {"metric": "x"},
        {"metric": "hamming"},
        {"column": "u", "metric": "l2"},
        {"column": "b"},
        {"column": "x"},
        {"q": [1, 2, 3]},
        {"q": [[1, 2], [1]]},
    ],
)
def test_wrong_values(given):
    """They raise ValueError."""
    with pytest.raises(ValueError, match=r"\w"):
        asked(**given)


@pytest.mark.parametrize(
    "given",
    [{"k": "3"}, {"k": 2.5}, {"column": "i"}, {"q": "ab"}, {"x": 1}, {"distance_range": ("a", 1)}],
)
def test_wrong_types(given):
    """They raise TypeError."""
    with pytest.raises(TypeError):
        asked(**given)


def test_a_query_is_a_mapping():
    """What is none is refused."""
    with pytest.raises(TypeError):
        vector_query("abc", SCHEMA, None)


def test_a_column_of_the_name_of_the_query():
    """A batch is not asked of a table that has it."""
    schema = schema_of(pa.schema({"query_index": pa.int64(), "v": pa.list_(pa.float32(), 2)}))
    with pytest.raises(QueryRefused, match="query_index"):
        vector_query({"column": "v", "q": [[1, 2]]}, schema, None)


@pytest.mark.parametrize(
    "given",
    [[1, 2], (1.0, 2.0), np.array([1, 2]), pa.array([1, 2]), pa.chunked_array([[1.0], [2.0]])],
)
def test_a_query_alone_is_an_array_of_floats(given):
    """Whatever it comes as."""
    assert [[1.0, 2.0]] == asked(q=given).vectors.tolist()


@pytest.mark.parametrize("given", ["text", 42, None, object()])
def test_what_is_no_vector_is_no_query(given):
    """It has no numbers."""
    with pytest.raises(TypeError):
        asked(q=given)


def test_among_several_vectors_what_is_no_number_is_zero():
    """It is counted; a vector alone keeps it, and in an Arrow array it is not counted."""
    nothing = float("nan")
    found = asked("m", q=[[1, nothing], [nothing, 4]])
    assert ([[1, 0], [0, 4]], 2) == (found.vectors.tolist(), found.missing)
    found = asked(q=[[1, nothing]])
    assert ([[1, 0]], 1, True) == (found.vectors.tolist(), found.missing, found.batch)
    assert np.isnan(asked(q=[1, nothing]).vectors[0, 1])
    assert (1, 0) == (asked(q=[1, nothing]).missing, asked(q=pa.array([1, nothing])).missing)

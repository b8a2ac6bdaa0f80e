"""Vector queries: arguments, and exact distances by hand."""

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.file.arrow_schema import schema_of
from pylanceref.nearest import vector_query

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


def test_several_vectors():
    """They are a batch, or one query where rows have several."""
    q = [[1, 2], [3, 4]]
    assert (q, True) == (asked(q=q).vectors.tolist(), asked(q=q).batch)
    found = asked("m", q=q)
    assert (q, False, np.float16) == (found.vectors.tolist(), found.batch, found.vectors.dtype)
    assert asked("m").vectors.shape == (1, 2)


@pytest.mark.parametrize(
    "given",
    [
        *({"k": 0}, {"nprobes": 0}, {"minimum_nprobes": -1}, {"query_parallelism": -2}),
        *({"minimum_nprobes": 2, "maximum_nprobes": 1}, {"approx_mode": "x"}, {"refine_factor": 0}),
        *({"distance_range": (1,)}, {"metric": "hamming"}, {"column": "u", "metric": "l2"}),
        *({"column": "b"}, {"q": [1, 2, 3]}, {"q": [[1, 2], [1]]}, {"search_effort": 2}),
    ],
)
def test_wrong_values(given):
    """They raise ValueError."""
    with pytest.raises(ValueError, match=r"\w"):
        asked(**given)


POINTS = [[0, 0], [3, 4], None, [1, 0], [0, 2], [float("nan"), 0], [3, 4]]


@pytest.fixture
def dataset(tmp_path):
    """Points of a plane, in two fragments, and lists of points."""
    vectors = pa.array(POINTS, pa.list_(pa.float32(), 2))
    several = pa.array(
        [[one, one[::-1]] if one else None for one in POINTS], pa.list_(pa.list_(pa.float32(), 2))
    )
    table = pa.table({"i": range(7), "v": vectors, "m": several})
    return pylanceref.write_dataset(table, tmp_path / "t", max_rows_per_file=4)


def near(dataset, q, column="v", scan=None, **asked):
    """Return the rows that are found, and how far they are."""
    found = dataset.to_table(nearest={"column": column, "q": q, **asked}, **(scan or {}))
    return list(zip(found["i"].to_pylist(), found["_distance"].to_pylist(), strict=True))


def test_distances_by_hand(dataset):
    """Of every metric; what is null, no number or without direction has none."""
    l2 = [(0, 0), (3, 1), (4, 4), (1, 25), (6, 25)]
    assert l2 == near(dataset, [0, 0])
    assert [(1, -24), (6, -24), (4, -7), (3, -2), (0, 1)] == near(dataset, [3, 4], metric="dot")
    cosine = near(dataset, [2, 0], metric="cosine")
    assert [3, 1, 6, 4] == [row for row, _ in cosine]
    np.testing.assert_allclose([0, 0.4, 0.4, 1], [one for _, one in cosine], atol=1e-6)

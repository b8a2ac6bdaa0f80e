"""Vector indices of both libraries: the same bytes, and answers over the files of the other."""

import json
import sys

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.index.vector.graph import graph_text
from lanceref.index.vector.pq_storage import COLUMN
from lanceref.kernels.distance import normalized
from lanceref.kernels.hnsw_graph import GraphParameters, node_levels
from pylanceref.file import LanceFileReader

from .indexed import fixed, opened, points, table, write

pytestmark = pytest.mark.oracle
lance = pytest.importorskip("lance")
NODES = 2000


def clustered():
    """Return 900 vectors of 16 numbers around a few places."""
    source = np.random.default_rng(3)
    around = source.normal(size=(8, 16)) * 2
    return (around[source.integers(0, 8, 900)] + source.normal(size=(900, 16))).astype("f4")


def built(root, values, by, index_type, **parameters):
    """Write vectors and build an index by one of the implementations; return where."""
    path = str(root / "t")
    pylanceref.write_dataset(pa.table({"v": fixed(values)}), path)
    by.dataset(path).create_index("v", index_type, num_partitions=3, **parameters)
    return path


@pytest.mark.parametrize(("m", "max_level"), [(4, 3), (20, 7), (9, 1)])
def test_levels_and_texts_are_those_of_the_oracle(tmp_path, m, max_level):
    """They follow from the number of nodes."""
    dataset = lance.write_dataset(table(points(NODES)), tmp_path / "t")
    dataset.create_index("v", "IVF_HNSW_FLAT", num_partitions=2, m=m, max_level=max_level)
    (path,) = (tmp_path / "t" / "_indices").glob("*/index.idx")
    reader = LanceFileReader(str(path))
    nodes, start = reader.read_all().to_table()["__vector_id"].to_numpy(), 0
    parameters = GraphParameters(m, 150, max_level)
    for text in json.loads(reader.metadata().schema.metadata[b"lance:hnsw"]):
        said = json.loads(text)
        count, rows = said["level_offsets"][1], said["level_offsets"][-1]
        levels = node_levels(count, m, max_level)
        wanted = [np.flatnonzero(levels >= level) for level in range(max_level)]
        assert graph_text(count, parameters, 2).text == text
        assert np.concatenate(wanted).tolist() == nodes[start : start + rows].tolist()
        start += rows


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("num_bits", [4, 8])
def test_product_codes_are_those_of_the_oracle(tmp_path, num_bits, metric):
    """With the same centroids and codewords, files have the same rows and codes."""
    values = clustered()
    source = np.random.default_rng(1)
    said = {
        "num_sub_vectors": 8,
        "num_bits": num_bits,
        "metric": metric,
        "ivf_centroids": values[:3] / (4 if metric == "cosine" else 1),
        "pq_codebook": source.normal(size=(8, 2**num_bits, 2)).astype("f4"),
    }
    ours, theirs = (
        opened(pylanceref.dataset(built(tmp_path / name, values, by, "IVF_PQ", **said)))
        for name, by in (("a", pylanceref), ("b", lance))
    )
    assert ours.head.message.loss == pytest.approx(theirs.head.message.loss, rel=1e-5)
    for number in range(3):
        np.testing.assert_array_equal(ours.keys(number), theirs.keys(number))
        np.testing.assert_array_equal(ours.rows(number)[COLUMN], theirs.rows(number)[COLUMN])


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("num_bits", [1, 4, 9])
def test_columns_are_those_of_the_oracle(tmp_path, num_bits, metric):
    """With its centroids and rotation, signs and codes are its own; factors, but for rounding.

    Factors near zero are differences of larger sums of float32: their rounding is of that size.
    """
    values = clustered()
    path = built(tmp_path, values, lance, "IVF_RQ", num_bits=num_bits, metric=metric)
    index = opened(pylanceref.dataset(path))
    quantizer = index.auxiliary.quantizer
    if metric == "cosine":
        values = normalized(values)
    for number in range(3):
        keys = index.keys(number).astype(int)
        made = quantizer.encode(values[keys], np.full(len(keys), number))
        for name, column in index.rows(number).items():
            if column.dtype == np.uint8:
                np.testing.assert_array_equal(made[name], column)
            else:
                scale = float(np.abs(column).max())
                np.testing.assert_allclose(made[name], column, rtol=1e-4, atol=4e-6 * scale)


@pytest.mark.parametrize(
    ("dtype", "metric"), [("f2", "l2"), ("f4", "cosine"), ("f8", "dot"), ("f4", "l2")]
)
def test_bytes_are_those_of_the_oracle(tmp_path, dtype, metric):
    """With the same centroids every byte, every bound and every distance is the same."""
    values = points(dtype=dtype)
    ours = write(values, tmp_path)
    ours.create_index("v", "IVF_SQ", ivf_centroids=values[:4], metric=metric)
    theirs = lance.write_dataset(table(values), tmp_path / "o", max_rows_per_file=250)
    theirs.create_index("v", "IVF_SQ", ivf_centroids=values[:4], metric=metric)
    held, wanted = opened(ours), opened(pylanceref.dataset(tmp_path / "o"))
    assert wanted.auxiliary.quantizer.bounds == held.auxiliary.quantizer.bounds
    for number in range(4):
        assert wanted.keys(number).tolist() == held.keys(number).tolist()
        codes = [one.rows(number)["__sq_code"].astype(int) for one in (wanted, held)]
        apart = np.abs(codes[0] - codes[1])
        assert apart.max(initial=0) <= (1 if metric == "cosine" else 0)
        assert apart.sum() <= apart.size * 1e-3
    asked = {"column": "v", "q": values[7], "k": 30, "nprobes": 2}
    one, other = (data.to_table(nearest=asked) for data in (lance.dataset(ours.uri), ours))
    np.testing.assert_allclose(one["_distance"], other["_distance"], rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("by", [lance, pylanceref])
def test_bounds_of_no_vector_become_those_of_new_ones(tmp_path, by):
    """L.index.vector.sq.bounds: of nulls they are the wrong way round, and nothing is found."""
    values = points()
    nulls = table(values).slice(0, 8).set_column(1, "v", pa.nulls(8, table(values)["v"].type))
    dataset = lance.write_dataset(nulls, tmp_path)
    by.dataset(dataset.uri).create_index("v", "IVF_SQ", ivf_centroids=values[:4])
    ours = pylanceref.dataset(dataset.uri)
    asked = {"column": "v", "q": values[7], "k": 9, "nprobes": 4}
    assert 0 == ours.to_table(nearest=asked).num_rows
    bounds = opened(ours).auxiliary.quantizer.bounds
    assert (sys.float_info.max, -sys.float_info.max) == (bounds.start, bounds.end)
    assert [] == lanceref.validate(dataset.uri, deep=True)

    ours = pylanceref.write_dataset(table(values), dataset.uri, mode="append")
    ours.optimize.optimize_indices(num_indices_to_merge=1)
    bounds = opened(pylanceref.dataset(dataset.uri)).auxiliary.quantizer.bounds
    assert (float(values.min()), float(values.max())) == (bounds.start, bounds.end)
    for module in (lance, pylanceref):
        found = module.dataset(dataset.uri).to_table(nearest=asked, columns=["i", "_distance"])
        assert (7, 9) == (found["i"][0].as_py(), found.num_rows)

"""What holds of every vector index type: it finds what a scan finds, whatever happened."""

from dataclasses import replace

import lanceref
import numpy as np
import pylanceref
import pytest
from lanceref.core.errors import IndexRefused
from lanceref.index.vector.pq_storage import Product
from lanceref.kernels import hnsw_build
from lanceref.kernels.hnsw_graph import Graph, Level

from .indexed import near, opened, points, table, write

TYPES: dict[str, dict[str, object]] = {
    "IVF_FLAT": {},
    "IVF_SQ": {},
    "IVF_PQ": {"num_sub_vectors": 4},
    "IVF_PQ of one file": {"num_sub_vectors": 4, "index_file_version": "LEGACY"},
    "IVF_RQ": {"num_bits": 5},
    "IVF_HNSW_FLAT": {"m": 8, "ef_construction": 40},
    "IVF_HNSW_SQ": {"m": 8, "ef_construction": 40},
    "IVF_HNSW_PQ": {"m": 8, "ef_construction": 40, "num_sub_vectors": 4},
}
COLUMNS = [("l2", "f4", False), ("cosine", "f2", True), ("dot", "f8", False)]
VALUES = points(600)


def create(dataset, name: str, **more) -> None:
    """Build an index of a type."""
    dataset.create_index("v", name.split(maxsplit=1)[0], **TYPES[name], **more)


def found(dataset, q) -> int:
    """Return how many of the 20 nearest an index finds in all partitions, looked at again."""
    metric = opened(dataset).head.model.metric
    wanted, _ = near(dataset, q, k=20, use_index=False, metric=metric)
    return len({*near(dataset, q, k=20, nprobes=9, refine_factor=5)[0]} & {*wanted})


@pytest.mark.parametrize(("metric", "dtype", "stable"), COLUMNS)
@pytest.mark.parametrize("name", TYPES)
def test_an_index_finds_what_a_scan_finds(tmp_path, name, metric, dtype, stable):
    """Built, beside new rows, in two segments, merged, and after a compaction; it stays sound."""
    values = points(dtype=dtype)
    dataset = write(values[:500], tmp_path, enable_stable_row_ids=stable)
    create(dataset, name, num_partitions=3, metric=metric)
    assert found(dataset, values[7]) >= 18
    before = opened(dataset)
    dataset.delete("i % 7 = 2")
    dataset.insert(table(values[500:]))
    assert found(dataset, values[7]) >= 18
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    assert (2, 0) == (len(dataset.list_indices()), unindexed(dataset))
    assert found(dataset, values[507]) >= 18
    dataset.optimize.optimize_indices(num_indices_to_merge=2)
    assert (1, 0) == (len(dataset.list_indices()), unindexed(dataset))
    assert found(dataset, values[507]) >= 18
    dataset.optimize.compact_files()
    assert found(dataset, values[507]) >= 18
    after = opened(dataset)
    assert before.head.model.centroids.tolist() == after.head.model.centroids.tolist()
    assert lanceref.validate(dataset.uri, deep=True) == []


def unindexed(dataset) -> int:
    """Return how many rows no segment covers."""
    return dataset.index_statistics("v_idx")["num_unindexed_rows"]


@pytest.mark.parametrize("name", TYPES)
def test_segments_that_learnt_alike_are_merged(tmp_path, name):
    """Those of the same centroids and codewords become one; of other centroids they do not."""
    dataset = write(VALUES, tmp_path)
    codebook = np.random.default_rng(1).normal(size=(4, 256, 2)).astype("f4") * 2
    learnt = {"pq_codebook": codebook} if "PQ" in name else {}

    def built(number, centroids):
        kind = name.split()[0]
        given = {**TYPES[name], **learnt, "ivf_centroids": centroids}
        return dataset.create_index_uncommitted("v", kind, fragment_ids=[number], **given)

    parts = [built(number, VALUES[:3]) for number in range(3)]
    if name == "IVF_RQ":
        with pytest.raises(IndexRefused, match="differ"):
            dataset.merge_existing_index_segments(parts)
        return
    merged = dataset.merge_existing_index_segments(parts)
    dataset.commit_existing_index_segments("v_idx", "v", [merged])
    assert found(dataset, VALUES[5]) >= 15
    assert lanceref.validate(dataset.uri, deep=True) == []
    with pytest.raises(IndexRefused, match="centroids"):
        dataset.merge_existing_index_segments([built(0, VALUES[3:6]), parts[1]])


def test_sq_segments_of_other_bounds_are_merged(tmp_path):
    """Bytes become those by the bounds of all."""
    values = VALUES[:500].copy()
    values[250:] *= 8
    dataset = write(values, tmp_path)
    parts = [
        dataset.create_index_uncommitted(
            "v", "IVF_SQ", fragment_ids=[number], ivf_centroids=values[::250]
        )
        for number in range(2)
    ]
    merged = dataset.merge_existing_index_segments(parts)
    dataset.commit_existing_index_segments("v_idx", "v", [merged])
    bounds = opened(pylanceref.dataset(dataset.uri)).auxiliary.quantizer.bounds
    assert (bounds.start, bounds.end) == (float(values.min()), float(values.max()))
    assert found(dataset, values[252]) >= 16


@pytest.mark.parametrize(
    ("kind", "parameters", "width"),
    [
        ("IVF_PQ", {"num_bits": 6, "num_sub_vectors": 4}, 8),
        ("IVF_PQ", {"num_bits": 4, "num_sub_vectors": 3}, 6),
        ("IVF_RQ", {"num_bits": 10}, 8),
        ("IVF_RQ", {}, 12),
    ],
)
def test_what_cannot_be_built_is_refused(tmp_path, kind, parameters, width):
    """Widths of codes that there are not, and dimensions that codes do not divide."""
    values = np.random.default_rng(1).normal(size=(300, width)).astype("f4")
    dataset = write(values, tmp_path)
    with pytest.raises(ValueError, match=r"\w"):
        dataset.create_index("v", kind, num_partitions=1, **parameters)


@pytest.mark.parametrize("metric", ["l2", "dot"])
def test_codes_that_are_not_the_nearest_are_reported(tmp_path, monkeypatch, metric):
    """Of every vector another codeword is written."""
    true, dataset = Product.encode, write(VALUES[:300], tmp_path)

    def changed(self, vectors, places):
        return {name: codes ^ 1 for name, codes in true(self, vectors, places).items()}

    with monkeypatch.context() as patch:
        patch.setattr(Product, "encode", changed)
        create(dataset, "IVF_PQ", num_partitions=1, metric=metric)
    found = {one.clause for one in lanceref.validate(dataset.uri, deep=True)}
    assert {"L.index.vector.pq.codes"} == found


def cut_off(level: Level) -> Level:
    """Return a level whose last node no edge leads to."""
    last = level.nodes[-1]
    others = np.where(level.nodes[:1] == last, last, level.nodes[0])
    return replace(level, neighbours=np.where(level.neighbours == last, others, level.neighbours))


def test_a_graph_with_a_node_that_is_not_reached_is_reported(tmp_path, monkeypatch):
    """No edge leads to the last node of each level."""
    true = hnsw_build.build

    def changed(*arguments) -> Graph:
        made = true(*arguments)
        return replace(made, levels=tuple(map(cut_off, made.levels)))

    dataset = write(VALUES, tmp_path)
    monkeypatch.setattr(hnsw_build, "build", changed)
    create(dataset, "IVF_HNSW_FLAT", num_partitions=2)
    found = {one.clause for one in lanceref.validate(dataset.uri, deep=True)}
    assert "L.index.vector.graph.reached" in found

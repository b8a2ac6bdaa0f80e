"""Distributed training: segments with a shared model are one index."""

from functools import cache

import numpy as np
import pylanceref
import pytest
from lanceref_spark.distributed_index import build_index
from lanceref_spark.jobs import Loop, Processes

from tests.index.vector.indexed import table as vector_table

DIM, ROWS = 16, 1200


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Vectors around 30 points, in eight fragments."""
    random = np.random.default_rng(11)
    points = random.normal(size=(30, DIM)) * 4
    vectors = (points[random.integers(0, 30, ROWS)] + random.normal(size=(ROWS, DIM))).astype("f4")
    uri = str(tmp_path_factory.mktemp("vectors") / "t")
    return pylanceref.write_dataset(vector_table(vectors), uri, max_rows_per_file=ROWS // 8)


TYPES = {
    "IVF_FLAT": {},
    "IVF_PQ": {"num_sub_vectors": 4},
    "IVF_SQ": {},
    "IVF_RQ": {"num_bits": 3},
    "IVF_HNSW_SQ": {"m": 8, "ef_construction": 40},
}
"""Parameters of each type."""


def nearest(dataset, k=10, use_index=True):
    """Return the ids found for 20 queries."""
    random = np.random.default_rng(2)
    queries = random.integers(0, ROWS, 20)
    vectors = dataset.take(queries, ["v"])["v"].to_pylist()
    asked = {"column": "v", "k": k, "nprobes": 8, "use_index": use_index}
    return [
        set(dataset.to_table(nearest=asked | {"q": q}, columns=["i"])["i"].to_pylist())
        for q in vectors
    ]


def recall(found, wanted):
    return np.mean([len(a & b) / len(b) for a, b in zip(found, wanted, strict=True)])


def built(table, kind, executor=None, **arguments):
    options = {"num_partitions": 8, "sample_rate": 64, "max_iters": 10, **TYPES[kind], **arguments}
    return build_index(executor or Loop(), table.uri, "v", kind, **options)


@pytest.fixture(scope="module")
def shared(table):
    """The versions with four segments of a shared model, two merged ones, and one, by type."""
    shapes = ({"shards": 4}, {"shards": 4, "merged": 2}, {"shards": 1})
    return cache(lambda kind: [built(table, kind, shared_model=True, **one) for one in shapes])


@pytest.mark.parametrize("kind", TYPES)
def test_segments_of_a_shared_model_are_as_good_as_one(table, shared, kind):
    """In full searches four segments, two merged ones and one find the same nearest rows."""
    wanted = nearest(table, use_index=False)
    found = [nearest(made) for made in shared(kind)]
    indices = [made.describe_indices() for made in shared(kind)]
    assert [[4], [2], [1]] == [
        [len(one.segments) for one in table_indices] for table_indices in indices
    ]
    floor = {"IVF_FLAT": 1.0, "IVF_PQ": 0.3, "IVF_SQ": 0.9, "IVF_RQ": 0.7}.get(kind, 0.85)
    scores = [recall(one, wanted) for one in found]
    assert min(scores) >= floor
    assert max(scores) - min(scores) <= 0.1
    if kind in {"IVF_FLAT", "IVF_PQ"}:  # others depend on bounds, graphs, places in a partition
        assert found[0] == found[1]


def test_segments_with_separate_models_are_one_index(table):
    """Four segments with centroids of their own are one index, which finds every row."""
    made = built(table, "IVF_FLAT", shards=4)
    assert nearest(made) == nearest(table, use_index=False)


def test_the_model_does_not_depend_on_the_executor(table):
    """A loop and two processes train the same centroids; another seed results in others."""

    def centroids(executor, seed):
        parts = {"shards": 3, "shared_model": True, "max_iters": 2}  # each asks for new processes
        made = built(table, "IVF_FLAT", executor, seed=seed, **parts)
        return made.index_statistics("v_idx")["indices"][0]["centroids"]

    first = centroids(Loop(), 1)
    assert first == centroids(Processes(2), 1)
    assert first != centroids(Loop(), 2)


@pytest.mark.oracle
@pytest.mark.parametrize("kind", TYPES)
def test_the_oracle_searches_the_segments(table, shared, kind):
    """Segments and merged segments are opened by the oracle, which finds as much as we do."""
    import lance

    wanted = nearest(table, use_index=False)
    for made in shared(kind)[:2]:
        ours, theirs = nearest(made), nearest(lance.dataset(made.uri, version=made.version))
        assert recall(theirs, wanted) >= recall(ours, wanted) - 0.02

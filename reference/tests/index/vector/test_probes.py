"""Partitions that are searched first."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.index.vector.searching import SearchParameters, probes

from .indexed import fixed

GROWING = (1.01 ** np.arange(60)).astype(np.float32)


def first(near, asked, metric="l2", rows=10**6) -> int:
    """Return how many are searched first."""
    return probes(np.array(near, np.float32), asked, metric, rows)[0]


@pytest.mark.parametrize(
    ("k", "counts"), [(1, (19, 5, 5)), (2, (24, 6, 6)), (10, (24, 6, 6)), (11, (29, 11, 7))]
)
def test_as_many_as_are_about_as_near(k, counts):
    """Within bounds, and there are no more than there are."""
    assert counts[0] == first(GROWING, SearchParameters(k))
    assert counts[1] == first(GROWING**99, SearchParameters(k))
    assert min(counts[2], 7) == first(GROWING[:7] ** 99, SearchParameters(k))


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (SearchParameters(1, 3), (19, 60)),
        (SearchParameters(1, 30), (30, 60)),
        (SearchParameters(1, None, 3), (3, 3)),
        (SearchParameters(11, 3, 25), (25, 25)),
        (SearchParameters(1, 7, 7), (7, 7)),
        (SearchParameters(1, 99, 99), (60, 60)),
        (SearchParameters(1, effort=0.25), (5, 60)),
        (SearchParameters(1, effort=0.75), (34, 60)),
        (SearchParameters(1, 4, effort=0.0), (4, 60)),
        (SearchParameters(1, 4, effort=0.25), (9, 60)),
        (SearchParameters(1, None, 40, effort=1.0), (40, 40)),
        (SearchParameters(1, None, 40, effort=0.75), (28, 40)),
        (SearchParameters(30, final_k=1), (19, 60)),
    ],
)
def test_what_a_caller_asks_for(asked, wanted):
    """Bounds hold, effort leads from the least over the usual to the most."""
    assert wanted == probes(GROWING, asked, "l2", 10**6)


def test_other_metrics():
    """Dot goes by the difference, hamming by multiples of the nearest."""
    assert [1, 3, 6] == [
        first([1, 2, 7, 8, 80, 81, 82], SearchParameters(k), "hamming") for k in (1, 10, 11)
    ]
    dot = np.full(1000, -4.0)
    dot[0] = -5
    assert 56 == first(dot, SearchParameters(1), "dot")
    dot[0] = -4.8
    assert 112 == first(dot, SearchParameters(1), "dot")
    assert 144 == first(dot, SearchParameters(5), "dot")


def test_partitions_with_few_rows():
    """There are as many as rows are wanted, if all partitions have the same number."""
    assert 4 == first([0, 9, 9, 9, 9, 9], SearchParameters(7), "hamming", rows=12)


@pytest.mark.oracle
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("growth", [1.002, 1.03, 1.5])
def test_the_oracle_searches_as_many(tmp_path, metric, growth):
    """However near the centroids stand."""
    import lance

    count = 240
    near = (growth ** np.arange(count)).clip(max=1e6)
    centroids = np.zeros((count, count + 1), np.float32)
    centroids[:, 0] = 1 if metric == "cosine" else 1 - near if metric == "dot" else 0
    ahead = np.sqrt(near) if metric != "dot" else np.full(count, 5e6)
    centroids[np.arange(count), np.arange(count) + 1] = ahead
    values = np.repeat(centroids, 2, axis=0)
    table = pa.table({"v": fixed(values)})
    dataset = lance.write_dataset(table, tmp_path / "t")
    dataset.create_index("v", "IVF_FLAT", metric=metric, ivf_centroids=centroids)
    query = np.zeros(count + 1, np.float32)
    query[0] = metric != "l2"
    (index,) = pylanceref.dataset(tmp_path / "t")._snapshot.indices.known
    opened = index.open(index.segments[0]).index
    from lanceref.index.vector.searching import ranking

    _, held = ranking(opened.head.model, query)
    for k in (1, 5, 11):
        plan = dataset.scanner(nearest={"column": "v", "q": query, "k": k}).analyze_plan()
        (searched,) = re.findall(r"partitions_searched=(\d+)", plan)
        assert int(searched) == probes(held, SearchParameters(k), metric, 2 * count)[0]

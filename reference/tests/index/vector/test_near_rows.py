"""Near rows: pairs of rows of a partition whose distance is at most a threshold."""

from __future__ import annotations

import numpy as np
import pytest
from lanceref.index.vector import near_rows
from lanceref.index.vector.flat_storage import FlatRows
from lanceref.index.vector.near_rows import NearRows, batch_rows
from lanceref.index.vector.sq_storage import Sq
from lanceref.index.vector.storage import Model
from lanceref.kernels.scalar_quantizer import Bounds


def _flat(places, metric="l2") -> FlatRows:
    """Return points of a line."""
    return FlatRows(np.array(places, np.float32)[:, None], metric)


def _pairs(stored, threshold, kept=None, metric="l2"):
    near = NearRows(stored, metric, np.float32(threshold))
    kept = np.arange(len(stored.vectors)) if kept is None else np.array(kept, np.int64)
    return [[tuple(map(float, one)) for one in zip(*found)] for found in near.pairs(kept)]


def test_pairs_by_hand():
    """Each pair once, the first row first, with the square of what lies between."""
    places = _flat([0, 5, 1, 5.5, 7])
    assert [[(0, 2, 1), (1, 3, 0.25)]] == _pairs(places, 1)
    assert [[(0, 2, 1), (1, 3, 0.25), (1, 4, 4), (3, 4, 2.25)]] == _pairs(places, 4)
    assert [] == _pairs(places, -1)


def test_rows_that_are_not_kept_are_in_no_pair():
    """Nor is a row that is alone, nor one of numbers that are none."""
    places = _flat([0, 5, 1, 5.5, 7, np.nan, 1])
    assert [[(0, 6, 1), (3, 4, 2.25)]] == _pairs(places, 4, [0, 3, 4, 5, 6])
    assert [] == _pairs(places, 100, [5, 6])
    assert [] == _pairs(places, 100, [3])
    assert [] == _pairs(places, 100, [])


def test_pairs_come_tile_by_tile(monkeypatch):
    """64 rows a batch, 32 of them at once: by places in the file, whichever of them are kept."""
    monkeypatch.setattr(near_rows, "MOST_ROWS", 64)
    places = _flat(np.zeros(140))
    kept = [0, 1, 33, 64, 63, 139]
    expected = [
        [(0, 1), (0, 33), (0, 63), (1, 33), (1, 63)],
        [(33, 63)],
        [(0, 64), (1, 64)],
        [(33, 64), (63, 64)],
        [(0, 139), (1, 139)],
        [(33, 139), (63, 139)],
        [(64, 139)],
    ]
    found = [[(one, other) for one, other, _ in part] for part in _pairs(places, 0, sorted(kept))]
    assert expected == found


def test_many_pairs_are_looked_at_in_parts(monkeypatch):
    """It is the same."""
    places = _flat(np.arange(40))
    whole = _pairs(places, 9)
    monkeypatch.setattr(near_rows, "PAIR_VALUES", 8)
    assert whole == _pairs(places, 9)
    assert 39 + 38 + 37 == sum(map(len, whole))


@pytest.mark.parametrize(
    ("metric", "dimension", "rows"),
    [
        ("l2", 8, 8192),
        ("l2", 2044, 2048),
        ("l2", 2045, 1024),
        ("dot", 2044, 2048),
        ("dot", 2045, 1024),
        ("cosine", 2042, 2048),
        ("cosine", 2043, 1024),
        ("l2", 1 << 20, 32),
    ],
)
def test_rows_of_a_batch(metric, dimension, rows):
    """As many as 16 MiB hold of vectors, with ids, places and lengths: a power of two."""
    vectors = np.broadcast_to(np.float32(0), (1, dimension))
    assert rows == batch_rows(FlatRows(vectors, metric), metric)


@pytest.mark.parametrize(("metric", "most"), [("dot", 4072), ("l2", 4064), ("cosine", 4056)])
def test_rows_of_a_batch_of_codes(metric, most):
    """The more numbers go with a code, the fewer bytes it may have."""
    for dimension, rows in ((most, 4096), (most + 1, 2048)):
        sq = Sq(Model(metric, np.zeros((1, dimension), np.float32)), Bounds(0, 1))
        stored = sq.stored(sq.encode(np.zeros((1, dimension), np.float32), np.zeros(1, int)), 0)
        assert rows == batch_rows(stored, metric)

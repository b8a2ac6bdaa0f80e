"""Graphs of an index are built over what its storage keeps."""

from __future__ import annotations

import numpy as np
import pytest
from lanceref.index.vector.building import graph_batches, graph_texts
from lanceref.index.vector.flat_storage import Flat
from lanceref.index.vector.storage import Model
from lanceref.index.vector.vector_file import partitions_of
from lanceref.kernels.hnsw_graph import GraphParameters

from .indexed import points

VALUES = points(80)
VALUES /= np.linalg.norm(VALUES, axis=1, keepdims=True)


PARTITIONS = partitions_of([50, 0, 30])
PARAMETERS = GraphParameters(4, 20, 3)


def graphs(metric="l2"):
    """Return a quantizer, and the graphs of three partitions, the middle one empty."""
    quantizer = Flat(Model(metric, VALUES[:3]))
    return quantizer, graph_batches(quantizer, PARTITIONS, {"flat": VALUES}, PARAMETERS)


def test_what_is_said_is_what_is_written():
    """Rows and texts are known before a graph is built; a partition without rows has none."""
    (texts, rows), batches = graph_texts(PARTITIONS, PARAMETERS), list(graphs()[1])
    assert [len(one) for one in batches] == [n for n in rows.lengths.tolist() if n]
    assert ["", ""] == [text for text in texts if not text] + [texts[1]]
    assert '"level_offsets":[0,50,' in texts[0]
    assert '"level_offsets":[0,30,' in texts[2]


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_edges_are_as_long_as_the_storage_says(metric):
    """Each edge has the distance that a search computes between its ends."""
    quantizer, batches = graphs(metric)
    first = next(batches)
    stored = quantizer.open_rows({"flat": VALUES[:50]}, 0)
    for row in range(0, 50, 7):
        node, near, far = (first[name][row].as_py() for name in first.schema.names)
        wanted = stored.score(VALUES[node], "normal")(np.array(near))
        np.testing.assert_allclose(far, wanted, rtol=1e-4, atol=1e-5)

"""Storage of vectors."""

from __future__ import annotations

import numpy as np
import pytest
from lanceref.index.vector.storage import Model


@pytest.mark.parametrize(
    ("metric", "between"),
    [("l2", "l2"), ("cosine", "l2"), ("dot", "dot"), ("hamming", "hamming")],
)
def test_the_metric_between_stored_vectors(metric, between):
    """Normalized vectors are as far as by l2."""
    model = Model(metric, np.zeros((3, 5), np.float32))
    assert (between, 5) == (model.of_vectors, model.dimension)

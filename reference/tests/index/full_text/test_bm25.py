"""BM25."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lanceref.index.full_text.bm25 import Corpus, bounds, counts, norms, weight


def test_worked_scores():
    """3 of 6 documents hold a token, this one twice among 3; the mean length is 10 / 3."""
    corpus = Corpus(2, 10) + Corpus(4, 10)
    assert pytest.approx(10 / 3) == corpus.mean_length
    own = weight(corpus.num_documents, 3)
    assert pytest.approx(math.log(2)) == own
    norm = norms(np.array([3], np.uint32), corpus.mean_length)
    assert pytest.approx([1.2 * (0.25 + 0.75 * 0.9)]) == norm
    score = own * counts(np.array([2], np.uint32), norm)
    assert pytest.approx([0.98066], abs=1e-5) == score
    (highest,) = bounds(np.array([2], np.uint32), norm, np.array([0]), np.array([own]))
    assert pytest.approx(0.98066, abs=1e-5) == highest
    assert np.float32 == score.dtype


def test_nothing_has_no_mean():
    """Without documents the mean length is 0."""
    assert 0 == Corpus().mean_length

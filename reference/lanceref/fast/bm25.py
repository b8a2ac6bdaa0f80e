"""Scores of a token in many documents: where there are few lengths, each is weighed once.

The specification is `index.full_text.bm25.scores`.
"""

from __future__ import annotations

import numpy as np

from lanceref.core.plain import replaces
from lanceref.index.full_text import bm25
from lanceref.index.full_text.bm25 import Scores, counts, norms
from lanceref.index.full_text.packed_integers import Numbers


@replaces(bm25.scores)
def scores(
    frequencies: Numbers,
    lengths: Numbers,
    documents: Numbers,
    own_weight: np.float32,
    mean_length: np.float32,
) -> Scores:
    """Return what a token adds to the score of each of the documents that hold it.

    `lengths` (all documents,), the other arrays and the result (documents with the token,).
    """
    own = lengths[documents]
    longest = int(own.max(initial=0))
    if longest >= len(own):
        return own_weight * counts(frequencies, norms(own, mean_length))
    table = norms(np.arange(longest + 1, dtype=np.uint32), mean_length)
    return own_weight * counts(frequencies, table[own])

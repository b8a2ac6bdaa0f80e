"""Text parts."""

from __future__ import annotations

import numpy as np
from lanceref.index.full_text.documents import Document
from lanceref.search.text_column import ReadDocuments, TextPart


def test_documents_that_were_read():
    """They have numbers, tokens and places: the row's, and that of the element."""
    part = ReadDocuments()
    part.add(iter([Document(0, 0, [("a", 0), ("b", 1), ("a", 2)])]), np.array([10]))
    part.add(iter([Document(1, 3, [("b", 0)])]), np.array([20, 21]))
    assert (2, 4) == (part.corpus.num_documents, part.corpus.num_tokens)
    assert [10 << 32, 21 << 32 | 3] == TextPart(part, lambda keys: keys.astype(np.int64)).places(
        np.arange(2)
    ).tolist()
    number = part.number_of("a")
    assert ([0], [2]) == tuple(
        one.tolist()
        for one in (
            part.postings(number).documents,
            part.postings(number).frequencies,
        )
    )
    assert [[0, 2]] == [one.tolist() for one in part.positions(number)]
    assert 2 == part.document_count(part.number_of("b"))
    assert part.number_of("c") is None
    assert [3, 1] == part.lengths.tolist()

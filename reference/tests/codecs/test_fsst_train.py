"""FSST symbol tables, trained."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from lanceref.codecs.fsst_encode import code_values, make_coder, shrinks, train

from .encoded_runs import variable

WORDS = [b"http://", b"www.", b"example", b".com/", b"index", b".html", b"?q="]


def _spelled(symbols, codes, counts):
    texts = [symbols[c] if c < 256 else bytes([c - 256]) for c in codes.tolist()]
    ends = np.cumsum(counts).tolist()
    return [b"".join(texts[start:end]) for start, end in zip([0, *ends], ends)]


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=8), min_size=1, max_size=40))
def test_codes_spell_the_values(rows):
    """Whatever table was trained, its symbols and escapes give the values back."""
    texts = [b"".join(row) for row in rows]
    symbols = train(variable(texts))

    assert len(symbols) <= 255
    assert _spelled(symbols, *code_values(make_coder(symbols), variable(texts))) == texts


def test_training_finds_repeated_text():
    """Values made of a few words take less than a third of their bytes."""
    texts = [b"".join(WORDS[(i + j) % 7] for j in range(6)) for i in range(500)]

    codes, _ = code_values(make_coder(train(variable(texts))), variable(texts))

    assert len(codes) < sum(map(len, texts)) / 3


def test_values_between_empty_ones_are_judged_by_their_own():
    """Every other value is empty: neither sample is made of those alone."""
    texts = [word for i in range(20_000) for word in (b"%05d" % i, b"")]

    assert shrinks(train(variable(texts)), variable(texts))

"""Nested rows: cut anywhere, they stay the same rows."""

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from hypothesis import given
from lanceref.pages.layers import Layer, Nested, Step

from .nesting import path_of, to_rows

PATH = path_of(Step.LIST, 2, Step.LEAF)
"""Lists of pairs."""


def _pairs(lengths, nulls):
    """Rows of `lengths` pairs each; those in `nulls` are null and empty."""
    sizes = [0 if i in nulls else length for i, length in enumerate(lengths)]
    offsets = np.append(0, np.cumsum(sizes)).astype(np.int64)
    count = int(offsets[-1])
    validity = np.array([i not in nulls for i in range(len(lengths))])
    layers = (Layer(len(lengths), validity, offsets), Layer(count, None, None, 2))
    return Nested(layers, pa.array(range(2 * count), pa.int64()))


def test_a_slice_holds_its_items_alone():
    """Row 1 and 2 of [[0 1]], null, [[2 3] [4 5]]: two rows, four leaf values."""
    cut = _pairs([1, 0, 2], {1}).slice(1, 3)

    assert [None, [[2, 3], [4, 5]]] == to_rows(cut, PATH)
    assert [2, 3, 4, 5] == cut.leaf.to_pylist()
    assert [0, 0, 2] == cut.layers[0].offsets.tolist()
    assert 2 == cut.num_rows


def test_a_whole_slice_is_the_rows_themselves():
    """Nothing is built anew."""
    rows = _pairs([1, 2], set())

    assert rows is rows.slice(0, 2)


def test_a_leaf_alone_has_its_own_rows():
    """Without layers the array counts."""
    rows = Nested((), pa.array([1, 2, 3]))

    assert 3 == rows.num_rows
    assert [2] == rows.slice(1, 2).leaf.to_pylist()


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=12),
    st.sets(st.integers(0, 11)),
    st.tuples(st.integers(0, 12), st.integers(0, 12)),
    st.tuples(st.integers(0, 12), st.integers(0, 12)),
)
def test_slices_of_slices_are_slices(lengths, nulls, outer, inner):
    """Cutting twice gives what cutting the rows as Python lists twice gives."""
    rows = _pairs(lengths, nulls)
    (a, b), (c, d) = (sorted(min(x, len(lengths)) for x in pair) for pair in (outer, inner))
    c, d = min(c, b - a), min(d, b - a)

    assert to_rows(rows, PATH)[a:b][c:d] == to_rows(rows.slice(a, b).slice(c, d), PATH)

"""FSST, coding, compiled, against the NumPy functions."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from lanceref.codecs.fsst_encode import apply, make_coder
from lanceref.codecs.values import Variable
from lanceref.fast.compiled import KERNEL_USE
from lanceref.fast.fsst import apply_compiled

pytest.importorskip("numba")

BYTE = st.sampled_from([0, 1, 97, 98, 255])
TEXT = st.lists(BYTE, max_size=30).map(bytes)
SYMBOL = st.lists(BYTE, min_size=1, max_size=8).map(bytes)


@given(st.lists(TEXT, min_size=1, max_size=12), st.lists(SYMBOL, unique=True, max_size=60))
@settings(max_examples=300)
def test_values_are_coded_as_without_the_kernel(texts, symbols):
    """Any symbols and any bytes give the same codes."""
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    values = Variable(offsets, np.frombuffer(b"".join(texts), np.uint8))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KERNEL_USE, "is_there", False)
        wanted = apply(symbols, values)

    coded = apply_compiled(make_coder(symbols), values)

    assert wanted.offsets.tolist() == coded.offsets.tolist()
    assert wanted.data.tobytes() == coded.data.tobytes()

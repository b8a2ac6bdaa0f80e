"""Bit unpacking, compiled, against the plain functions."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from lanceref.codecs import bitpack
from lanceref.fast.compiled import KERNEL_USE

from ..codecs.runs import run_of

pytest.importorskip("numba")


@pytest.fixture(scope="module", autouse=True)
def always_compiled():
    """Use kernels from the first byte on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KERNEL_USE, "enough", -1)
        patch.setattr(KERNEL_USE, "smallest", 1)
        yield


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_blocks_of_one_width_are_unpacked_alike(draw):
    """Any bytes at any width of any type, also where blocks do not lie together."""
    bits = draw.draw(st.sampled_from(bitpack.WIDTHS))
    width, count = draw.draw(st.integers(0, bits)), draw.draw(st.integers(1, 9))
    step = draw.draw(st.sampled_from([1, 2]))
    random = np.random.default_rng(draw.draw(st.integers(0, 1000)))
    shape = count * step, width * 1024 // bits
    packed = random.integers(0, 2**bits, shape, f"u{bits // 8}", endpoint=False)[::step]
    out = np.empty((2, count, 1024), packed.dtype)

    bitpack.unpack.plain(packed, width, out[0])
    bitpack.unpack.fast(packed, width, out[1])

    assert np.array_equal(out[0], out[1])


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_chunks_of_many_widths_are_unpacked_alike(draw):
    """Any bytes after a width of their own."""
    bits = draw.draw(st.sampled_from(bitpack.WIDTHS))
    widths = np.array(draw.draw(st.lists(st.integers(0, bits), min_size=1, max_size=9)))
    random = np.random.default_rng(draw.draw(st.integers(0, 1000)))
    heads = [int(width).to_bytes(bits // 8, "little") for width in widths]
    blocks = [head + random.bytes(128 * int(width)) for head, width in zip(heads, widths)]
    run = run_of(blocks, counts=[1024] * len(blocks))
    out = np.empty((2, len(blocks), 1024), f"u{bits // 8}")

    bitpack.unpack_chunks.plain(run, widths, out[0])
    bitpack.unpack_chunks.fast(run, widths, out[1])

    assert np.array_equal(out[0], out[1])
    assert np.array_equal(bitpack.inline_widths(run, bits), widths)

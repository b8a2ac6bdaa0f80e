"""Fast forms of what builds indices over text: each gives what its plain form gives."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.fast import builds
from lanceref.fast.codecs import KERNEL_USE, KernelUse
from lanceref.index.fm.partition import fnv_hash
from lanceref.index.full_text.tokenizers import cut_all, simple, whitespace
from lanceref.index.minhash.signature import signed


@given(st.binary(max_size=40), st.integers(1, 5))
def test_bytes_are_hashed_alike(data, together):
    """However many are hashed together."""
    powers = builds._POWERS[-together:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builds, "HASHED", together)
        patch.setattr(builds, "_POWERS", powers)

        assert fnv_hash.plain(data) == fnv_hash.fast(data)


@given(st.lists(st.text("ab9é.\n \x00", max_size=8), max_size=5))
def test_texts_are_cut_alike(texts):
    """The same words of each text, at the same positions."""
    for cut in (simple, whitespace):
        plain, fast = (call(cut, texts) for call in (cut_all.plain, cut_all.fast))

        assert list(map(list, plain)) == list(map(list, fast))


@given(
    st.lists(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=4), max_size=5),
    st.integers(1, 9),
    st.booleans(),
)
def test_texts_are_signed_alike(texts, num_hashes, is_there):
    """With the compiled kernel, where numba is installed, and without."""
    hashes = np.array([one for text in texts for one in text], np.uint64)
    counts = np.array(list(map(len, texts)), np.int64)
    use = KernelUse(is_there and KERNEL_USE.is_there, smallest=0, spent=KERNEL_USE.enough + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builds, "KERNEL_USE", use)
        plain, fast = (call(hashes, counts, num_hashes) for call in (signed.plain, signed.fast))

    assert plain.dtype == fast.dtype
    assert plain.tolist() == fast.tolist()

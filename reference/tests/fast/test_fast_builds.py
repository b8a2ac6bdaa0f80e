"""Fast forms of what builds indices over text: each gives what its plain form gives."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given
from lanceref.fast import builds
from lanceref.index.fm.partition import fnv_hash
from lanceref.index.full_text.tokenizers import cut_all, simple, whitespace


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

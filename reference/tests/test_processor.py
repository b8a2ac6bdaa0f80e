"""What the processor can do."""

from __future__ import annotations

import pytest
from lanceref.processor import TIERS, simd_info


def test_the_level_is_one_of_those_known():
    """It stands for instructions that are listed, on the one architecture that lists any."""
    info = simd_info()
    assert info["tier"] in {*TIERS, "none"}
    assert info["target_arch"]
    assert ("sse2" in info["host_features"]) == (info["target_arch"] == "x86_64")


@pytest.mark.oracle
def test_pylance_says_the_same_of_level_and_architecture():
    """Of single instructions each lists some that the other does not."""
    import lance

    ours, theirs = simd_info(), lance.simd_info()
    assert (ours["tier"], ours["target_arch"]) == (theirs["tier"], theirs["target_arch"])

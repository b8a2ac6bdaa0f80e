"""Names of pylance's module of this name."""

from __future__ import annotations

import lanceref.util
import pytest
from lanceref.clusters import KMeans


def test_names_are_those_of_their_modules():
    """One class, one function."""
    assert KMeans is lanceref.util.KMeans
    assert callable(lanceref.util.validate_vector_index)


@pytest.mark.oracle
@pytest.mark.parametrize("name", lanceref.util.__all__)
def test_pylance_has_every_name(name):
    """In the same place."""
    import lance.util

    assert hasattr(lance.util, name)

"""Names of pylance's module of this name."""

from __future__ import annotations

import pylanceref.util
import pytest
from pylanceref.clusters import KMeans


def test_names_are_those_of_their_modules():
    """One class, one function."""
    assert KMeans is pylanceref.util.KMeans
    assert callable(pylanceref.util.validate_vector_index)


@pytest.mark.oracle
@pytest.mark.parametrize("name", pylanceref.util.__all__)
def test_pylance_has_every_name(name):
    """In the same place."""
    import lance.util

    assert hasattr(lance.util, name)

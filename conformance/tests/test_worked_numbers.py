"""The worked numbers of chapter 66, computed again by the reference."""

from __future__ import annotations

import pylanceref
import pytest
from lance_conformance import places
from lance_conformance.stored import materialised


def test_the_distance_by_codewords() -> None:
    """A query at a vector whose residual is 0: as far as the codewords nearest to 0 are from it."""
    table = pylanceref.dataset(materialised(places.fixtures() / "index/any/ivf-pq/plain/dataset"))
    query = table.take([0])["v"][0].as_py()
    asked = {"column": "v", "q": query, "k": 80, "nprobes": 2}

    found = table.to_table(columns=["id"], nearest=asked).to_pylist()
    (distance,) = (row["_distance"] for row in found if row["id"] == 0)

    assert 0.4824 == pytest.approx(distance, abs=5e-5)
    assert 0.4824 == pytest.approx(0.0843 + 0.1022 + 0.0378 + 0.2581)

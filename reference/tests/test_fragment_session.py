"""Rows of a fragment, taken again and again."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest


@pytest.fixture
def fragment(tmp_path):
    """Ten rows, of which the first is deleted."""
    table = pylanceref.write_dataset(pa.table({"a": range(10), "b": range(10)}), tmp_path / "t")
    table.delete("a = 0")
    return table.get_fragments()[0]


def test_rows_are_taken_by_their_position_among_the_live_ones(fragment):
    """Every column by default, or those asked for, with the address where that is."""
    assert fragment.open_session().take([0, 8]).to_pydict() == {"a": [1, 9], "b": [1, 9]}
    assert fragment.open_session(["b"]).take([1]).to_pydict() == {"b": [2]}
    with_address = fragment.open_session(["b"], with_row_address=True)
    assert with_address.take([1]).to_pydict() == {"b": [2], "_rowaddr": [2]}
    computed = fragment.open_session({"c": "a + 1"}, with_row_address=True)
    assert computed.take([0]).to_pydict() == {"c": [2], "_rowaddr": [1]}

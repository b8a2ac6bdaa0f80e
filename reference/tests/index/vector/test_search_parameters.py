"""What a search wants."""

from __future__ import annotations

from lanceref.index.vector.searching import SearchParameters


def test_only_the_number_of_rows_is_needed():
    """Everything else is as when nothing is said."""
    assert SearchParameters(5) == SearchParameters(
        5, None, None, None, None, "normal", (None, None)
    )
    assert (5, 3) == (SearchParameters(5).wanted, SearchParameters(5, final_k=3).wanted)

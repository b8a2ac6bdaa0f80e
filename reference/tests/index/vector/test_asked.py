"""What a search wants."""

from __future__ import annotations

from lanceref.index.vector.searching import Asked


def test_only_the_number_of_rows_is_needed():
    """Everything else is as when nothing is said."""
    assert Asked(5) == Asked(5, None, None, None, None, "normal", (None, None))
    assert (5, 3) == (Asked(5).wanted, Asked(5, in_the_end=3).wanted)

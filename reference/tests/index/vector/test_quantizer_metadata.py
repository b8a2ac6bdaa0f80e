"""Quantizer metadata."""

import pytest
from lanceref.core.errors import FormatError, Place
from lanceref.index.vector.storage import flag, number

PLACE = Place("auxiliary.idx", 0)


def test_what_is_there_is_returned():
    """Whole numbers and truth values, by their names."""
    assert number({"a": 7}, "a", "L.x", PLACE) == 7
    assert flag({"a": False}, "a", "L.x", PLACE) is False


@pytest.mark.parametrize("found", [None, -1, 1.0, "1", True, [], {}])
def test_what_is_no_number(found):
    """It is refused under the clause that is given."""
    with pytest.raises(FormatError) as caught:
        number({"a": found}, "a", "L.x", PLACE)
    assert caught.value.clause == "L.x"


@pytest.mark.parametrize("found", [None, 0, 1, "true", []])
def test_what_is_no_truth_value(found):
    """Nor are numbers true or false."""
    with pytest.raises(FormatError) as caught:
        flag({"a": found}, "a", "L.x", PLACE)
    assert caught.value.clause == "L.x"

"""Random strings."""

from random import Random

import pyarrow as pa
import pytest
from lanceref_testing.strings import STRING_PATTERNS, random_strings


@pytest.mark.parametrize("name", STRING_PATTERNS)
@pytest.mark.parametrize("count", [0, 1, 300])
def test_patterns_draw_as_many_as_asked(name, count):
    """Every pattern serves any number of rows."""
    assert count == len(STRING_PATTERNS[name](Random(1), count))


def test_shapes_are_those_that_decide_how_strings_are_stored():
    """Few distinct ones, ones of 256 bytes and more, ones that are all the same."""
    drawn = {name: words(Random(1), 300) for name, words in STRING_PATTERNS.items()}

    assert len(set(drawn["few distinct"])) < 100
    assert min(map(len, drawn["long"])) >= 256
    assert 1 == len(set(drawn["equal"]))
    assert 300 == len(set(drawn["distinct"]))


def test_byte_strings_are_not_text():
    """Byte strings hold bytes that no text has."""
    assert b"\xff" in random_strings(Random(1), pa.binary(), 3, set())[0].as_py()

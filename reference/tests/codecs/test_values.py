"""Values: every kind knows how many it has."""

import numpy as np
from lanceref.codecs.values import Fixed, Indexed, Variable


def test_strings_are_one_fewer_than_their_offsets():
    """Two offsets enclose one value."""
    values = Variable(np.array([0, 2], np.int64), np.zeros(2, np.uint8))

    assert 1 == values.count


def test_indices_count_themselves_and_not_the_items():
    """Three indices into one item are three values."""
    items = Fixed(8, 1, np.zeros(1, np.uint8))

    assert 3 == Indexed(np.zeros(3, np.uint32), items).count

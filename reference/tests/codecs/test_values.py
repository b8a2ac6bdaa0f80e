"""Values: every kind knows how many it has."""

import numpy as np
from lanceref.codecs.values import Variable


def test_strings_are_one_fewer_than_their_offsets():
    """Two offsets enclose one value."""
    values = Variable(np.array([0, 2], np.int64), np.zeros(2, np.uint8))

    assert 1 == values.count


def test_text_is_ascii_when_no_byte_is_above_127():
    """Cut anywhere such bytes are UTF-8; no bytes are too."""
    assert _texts(b"a\x7f").is_ascii
    assert _texts(b"").is_ascii
    assert not _texts("é".encode()).is_ascii


def _texts(data: bytes) -> Variable:
    return Variable(np.array([0, len(data)], np.int64), np.frombuffer(data, np.uint8))

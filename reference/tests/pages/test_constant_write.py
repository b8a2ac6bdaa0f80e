"""Constant pages, written."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.codecs.values import Fixed, FixedSizeList, Variable
from lanceref.core.file_versions import V2_1, V2_2
from lanceref.pages.constant import all_null_page, the_value, value_buffer, value_page
from lanceref.pages.leafvalues import stored_values
from lanceref.pages.shred import RavelledLevels, flat_levels

LEVELS = RavelledLevels(
    (3, 6), np.array([1, 0, 1], np.uint16), np.array([1, 1, 3], np.uint16), 1, 3, 1, 3
)


def _value(values):
    array = pa.array(values) if isinstance(values, list) else values
    validity = np.array(array.is_valid())
    return the_value(stored_values(array), None if validity.all() else validity)


@pytest.mark.parametrize(
    ("values", "value"),
    [
        ([7, 7, 7], (7).to_bytes(8, "little")),
        ([7, None, 7], (7).to_bytes(8, "little")),
        ([7, 8], None),
        ([True, True, None], b"\x01"),
        ([False] * 9, b"\x00"),
        ([True, False], None),
        ([0.0, -0.0], None),
        ([7] * 100 + [8], None),
    ],
)
def test_fixed_values_are_compared_by_their_bytes(values, value):
    """Nulls do not count; the two zeros differ."""
    assert _value(values) == value


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["abc", None], b"abc"),
        ([""], b""),
        (["ab", "ba"], None),
        (["a", ""], None),
        (["ab" * 150] * 3, b"ab" * 150),
        (["ab" * 150, "a" * 300], None),
    ],
)
def test_strings_are_compared_by_their_bytes(values, text):
    """Length first, then bytes."""
    found = _value(values)

    assert found is None if text is None else bytes(found.data) == text


def test_a_vector_is_no_constant():
    """Fixed-size lists are never stored as one value."""
    items = Fixed(8, 4, np.ones(4, np.uint8))

    assert the_value(FixedSizeList(2, 2, None, items), None) is None


def test_a_page_of_plain_nulls_has_no_buffers():
    """One nullable item layer says it all."""
    nulls = RavelledLevels((3,), None, np.ones(3, np.uint16), 0, 1, None, 3)

    buffers, layout = all_null_page(nulls, V2_2)

    assert (buffers, list(layout.layers)) == ([], [3])


def test_levels_of_2_1_are_raw():
    """Repetition, then definition, two bytes each."""
    (rep, definition), layout = all_null_page(LEVELS, V2_1)

    assert bytes(rep) == bytes.fromhex("010000000100")
    assert bytes(definition) == bytes.fromhex("010001000300")
    assert not layout.HasField("rep_compression")


def test_levels_of_2_2_name_their_codec_and_number():
    """A reader needs both to know where they end."""
    _, layout = all_null_page(LEVELS, V2_2)

    assert layout.HasField("rep_compression")
    assert layout.HasField("def_compression")
    assert (layout.num_rep_values, layout.num_def_values) == (3, 3)


def test_a_value_of_32_bytes_stands_in_the_description():
    """One more byte, and it has a buffer."""
    inline = value_page(flat_levels(2), b"a" * 32, wide=False)
    stored = value_page(flat_levels(2), b"a" * 33, wide=False)

    assert (inline[0], inline[1].inline_value) == ([], b"a" * 32)
    assert not stored[1].HasField("inline_value")
    assert stored[0] == [bytes.fromhex("0100000021000000") + b"a" * 33]


def test_a_string_is_stored_as_the_buffers_of_an_array():
    """'abc' has two buffers: offsets 0 and 3, then the bytes."""
    value = Variable(np.array([0, 3]), np.frombuffer(b"abc", np.uint8))

    parts = value_buffer(value, wide=False)

    assert np.frombuffer(parts[:20], "<u4").tolist() == [2, 8, 3, 0, 3]
    assert parts[20:] == b"abc"
    assert len(value_buffer(value, wide=True)) == 12 + 16 + 3


def test_levels_follow_a_value():
    """With a value they are raw in every version."""
    buffers, layout = value_page(LEVELS, b"\x07", wide=False)

    assert [bytes(one).hex() for one in buffers] == ["010000000100", "010001000300"]
    assert layout.inline_value == b"\x07"

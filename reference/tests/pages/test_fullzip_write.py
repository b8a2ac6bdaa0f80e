"""Full-zip pages, written: worked numbers."""

import numpy as np
import pytest
from lanceref.codecs.values import Fixed, Variable
from lanceref.pages.fullzip import control_words, fullzip_page, index_type
from lanceref.pages.shred import RavelledLevels, flat_levels
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def _levels(rep, definition, codes, max_rep=0, max_visible=None):
    u16 = lambda one: None if one is None else np.array(one, np.uint16)  # noqa: E731
    count = len(definition if rep is None else rep)
    return RavelledLevels(codes, u16(rep), u16(definition), max_rep, 2, max_visible, count)


def _strings(*values):
    offsets = np.cumsum([0, *map(len, values)])
    return Variable(offsets, np.frombuffer(b"".join(values), np.uint8))


def test_the_worked_strings_are_written_byte_for_byte():
    """[null, 'ab', '']: a null is a control word alone, an empty string a length of 0."""
    levels = _levels(None, [1, 0, 0], (3,))

    (data, index), layout = fullzip_page(
        levels, CompressiveEncoding(), _strings(b"", b"ab", b""), wide=False
    )

    assert bytes(data).hex(" ") == "01 00 02 00 00 00 61 62 00 00 00 00 00"
    assert bytes(index) == bytes([0, 1, 8, 13])
    assert (layout.bits_rep, layout.bits_def, layout.bits_per_offset) == (0, 1, 32)
    assert (layout.num_items, layout.num_visible_items) == (3, 3)


def test_a_null_of_fixed_width_keeps_its_bytes():
    """Every visible entry carries a value, and there is no row index without repetition."""
    levels = _levels(None, [0, 1], (3,))
    values = Fixed(16, 2, np.array([5, 9], "<u2").view(np.uint8))

    (data,), layout = fullzip_page(levels, CompressiveEncoding(), values, wide=False)

    assert bytes(data).hex(" ") == "00 05 00 01 09 00"
    assert layout.bits_per_value == 16


def test_a_null_list_is_a_control_word_alone():
    """[[5], null, [6, 7]]: four entries, three values; rows begin at 0, 3 and 4."""
    levels = _levels([1, 1, 1, 0], [0, 1, 0, 0], (1, 4), max_rep=1, max_visible=0)
    values = Fixed(16, 3, np.array([5, 6, 7], "<u2").view(np.uint8))

    (data, index), layout = fullzip_page(levels, CompressiveEncoding(), values, wide=False)

    assert bytes(data).hex(" ") == "02 05 00 03 02 06 00 00 07 00"
    assert bytes(index) == bytes([0, 3, 4, 10])
    assert (layout.num_items, layout.num_visible_items) == (4, 3)


@pytest.mark.parametrize(
    ("bits_rep", "bits_def", "width"), [(0, 0, 0), (1, 7, 1), (1, 8, 2), (8, 9, 4)]
)
def test_a_control_word_has_the_bytes_that_its_bits_need(bits_rep, bits_def, width):
    """None, one, two or four: repetition above definition."""
    definition = [(1 << bits_def) - 1]
    levels = _levels([(1 << bits_rep) - 1], definition, (1, 4), max_rep=1, max_visible=0)

    words = control_words(levels, bits_rep, bits_def)

    assert words.shape == (1, width)
    assert int.from_bytes(words.tobytes(), "little") == (1 << bits_rep + bits_def) - 1


def test_the_width_of_the_index_follows_the_bound_before_nulls():
    """60 values that could take 65 bytes and lengths need two bytes, though 65 are written."""
    levels = _levels(None, [0] + [1] * 59, (3,))
    values = _strings(b"a", *[b""] * 59)

    (data, index), _ = fullzip_page(levels, CompressiveEncoding(), values, wide=False)

    assert (len(data), len(bytes(index))) == (65, 61 * 2)
    assert [index_type(n) for n in (255, 256, 65_536, 1 << 32)] == ["<u1", "<u2", "<u4", "<u8"]


def test_wide_lengths_take_eight_bytes():
    """Large types store lengths of 64 bits."""
    (data, _), layout = fullzip_page(
        flat_levels(1), CompressiveEncoding(), _strings(b"a"), wide=True
    )

    assert bytes(data) == bytes([1, 0, 0, 0, 0, 0, 0, 0]) + b"a"
    assert layout.bits_per_offset == 64

"""Bitmaps cut out of bitmaps."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lanceref.encodings_2_0.flat import concat_bits, slice_bits


def test_two_pieces_by_hand():
    """Bits 2..5 of one byte and bits 7..10 of two make one bitmap of six bits."""
    data = np.array([0b00010100, 0b10000000, 0b00000011], np.uint8)

    assert [0b111101] == concat_bits(data, np.array([2, 7]), np.array([3, 3])).tolist()


@given(st.lists(st.booleans(), min_size=1, max_size=99), st.data())
def test_bits_are_those_of_the_pieces(bits, draw):
    """Pieces anywhere give what slices of the list of bits give."""
    bitmap = np.packbits(np.array(bits), bitorder="little")
    at = st.integers(0, len(bits))
    pieces = [sorted(pair) for pair in draw.draw(st.lists(st.tuples(at, at)))]
    data = b"".join(bitmap[a // 8 : -(-b // 8)].tobytes() for a, b in pieces if b > a)
    some = np.array([piece for piece in pieces if piece[1] > piece[0]], int).reshape(-1, 2)

    found = concat_bits(np.frombuffer(data, np.uint8), some[:, 0], some[:, 1] - some[:, 0])

    wanted = [bit for a, b in some.tolist() for bit in bits[a:b]]
    assert wanted == np.unpackbits(found, count=len(wanted), bitorder="little").tolist()


@given(st.lists(st.booleans(), max_size=99), st.data())
def test_a_piece_ends_with_zeros(bits, draw):
    """Whatever lies after it."""
    bitmap = np.packbits(np.array(bits, bool), bitorder="little")
    first, last = sorted(
        (draw.draw(st.integers(0, len(bits))), draw.draw(st.integers(0, len(bits))))
    )

    found = slice_bits(bitmap, first, last - first)

    assert (
        np.packbits(np.array(bits[first:last], bool), bitorder="little").tolist() == found.tolist()
    )

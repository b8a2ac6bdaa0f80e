"""Flat values: worked numbers, bit-packed chunks, sizes."""

import hypothesis.strategies as st
import pytest
from hypothesis import given
from lanceref.codecs.flat import check_bits, decode
from lanceref.core.errors import CorruptPage

from .runs import PLACE, damaged, gives_values_or_refuses, leaves, plain, recording, run_of, words


def test_integers_of_two_chunks_are_joined():
    """Values of 32 bits are as they are, chunk after chunk."""
    run = run_of([words([1, 2, 3], 32), words([4], 32)], counts=[3, 1])

    assert [1, 2, 3, 4] == plain(decode(run, 32))


def test_bits_are_packed_least_significant_first_and_every_chunk_starts_at_a_byte():
    """Three bits 1, 0, 1 are the byte 05; the next chunk has a byte of its own."""
    run = run_of([b"\x05", b"\x02"], counts=[3, 2])

    assert [1, 0, 1, 0, 1] == plain(decode(run, 1))


def test_a_chunk_of_another_size_is_refused():
    """Eleven bytes do not hold three values of 32 bits."""
    run = run_of([words([1, 2, 3], 32), b"12345678901"], counts=[3, 3])

    with pytest.raises(CorruptPage) as caught:
        decode(run, 32)

    assert "L.codec.flat.size" == caught.value.clause
    assert 1000 + 8 + 16 + 8 == caught.value.offset
    assert "11 bytes" == caught.value.found


@pytest.mark.parametrize("bits", [0, 2, 7, 12, 2**31 + 8])
def test_widths_that_are_neither_a_bit_nor_whole_bytes_are_refused(bits):
    """A value has one bit or whole bytes, and is not larger than the limit."""
    with pytest.raises(CorruptPage, match=r"L\.codec\.flat\.bits"):
        check_bits(bits, PLACE)


def test_explain_owns_the_buffer_of_every_chunk():
    """Each buffer is a leaf of its own; padding is not part of it."""
    ctx = recording()

    decode(run_of([b"\x05", b"\x02"], counts=[3, 2], ctx=ctx), 1)

    assert [(8, 9, "values", "bitmap"), (24, 25, "values", "bitmap")] == leaves(ctx)


@given(st.lists(st.lists(st.booleans(), max_size=20), min_size=1, max_size=5))
def test_bits_of_any_chunks_come_back(chunks):
    """Bits decode to what a slow packer packed, whatever the chunks' lengths."""
    packed = [
        sum(bit << i for i, bit in enumerate(bits)).to_bytes((len(bits) + 7) // 8, "little")
        for bits in chunks
    ]
    run = run_of(packed, counts=[len(bits) for bits in chunks])

    assert [int(bit) for bits in chunks for bit in bits] == plain(decode(run, 1))


@given(st.data(), st.sampled_from([1, 8, 24, 64]))
def test_damaged_chunks_are_refused_or_read(draw, bits):
    """Any bytes give values or a LanceError."""
    run = run_of([bytes(40), bytes(8)], counts=[320 // bits, 64 // bits])

    gives_values_or_refuses(lambda part: decode(part, bits), damaged(draw, run))

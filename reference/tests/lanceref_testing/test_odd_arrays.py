"""Odd arrays: bytes worked by hand for oddities that are drawn alone."""

import numpy as np
import pyarrow as pa
from lanceref_testing.odd_arrays import OddPage, odd_fixed, odd_packed_struct
from lanceref_testing.oddities import Chance


def _encoded(array, oddity, arm):
    """Encode with one oddity; try seeds until it comes up."""
    encode = odd_packed_struct if pa.types.is_struct(array.type) else odd_fixed
    for seed in range(100):
        page = OddPage(Chance(seed, oddity), [])
        encoding = encode(array, page)
        inner = encoding.nullable.no_nulls.values
        if inner.WhichOneof("array_encoding") == arm:
            return inner, page
    raise AssertionError(f"{arm} never came up")


def test_integers_are_packed_back_to_back():
    """1, 2, 3 in any width of two or more: value i at bit i * width."""
    inner, page = _encoded(pa.array([1, 2, 3], pa.uint8()), {"bitpacked"}, "bitpacked")

    width = inner.bitpacked.compressed_bits_per_value
    stream = 1 | 2 << width | 3 << 2 * width
    assert 2 <= width <= 8
    assert not inner.bitpacked.signed
    assert bytes(page.buffers[0]) == stream.to_bytes(-(-3 * width // 8), "little")


def test_a_sign_takes_a_bit_of_its_own():
    """-4 takes three bits, 3 too; the sign makes four unnecessary."""
    both = {"bitpacked", "bitpacked with a sign"}
    widths = set()
    for seed in range(300):
        page = OddPage(Chance(seed, both), [])
        packed = odd_fixed(pa.array([-4, 3], pa.int8()), page).nullable.no_nulls.values.bitpacked
        if packed.signed:
            widths.add(packed.compressed_bits_per_value)

    assert widths == set(range(3, 9))


def test_blocks_hold_1024_values():
    """Three values fill a block of 128 bytes for each bit."""
    inner, page = _encoded(
        pa.array([0, 1, 5], pa.int64()), {"bitpacked for non-negative"}, "bitpacked_for_non_neg"
    )

    width = inner.bitpacked_for_non_neg.compressed_bits_per_value
    assert 3 <= width <= 64
    assert len(page.buffers[0]) == 128 * width


def test_without_oddities_values_are_flat():
    """As a writer stores them: validity, then values, null slots zero."""
    page = OddPage(Chance(0, ()), [])

    encoding = odd_fixed(pa.array([1, None, 3], pa.int16()), page)

    assert encoding.nullable.some_nulls.values.flat.bits_per_value == 16
    assert [bytes(b) for b in page.buffers] == [b"\x05", b"\x01\0\0\0\x03\0"]


def test_fields_of_a_packed_struct_name_the_buffer_of_the_struct():
    """Unless their buffers are odd, and then any other."""
    array = pa.array([{"a": 1, "b": 2}], pa.struct([("a", pa.int8()), ("b", pa.int16())]))
    for oddity, named in ((set(), {0}), ({"buffers of packed fields"}, {0, 1, 2, 3})):
        seen = set()
        for seed in range(40):
            page = OddPage(Chance(seed, oddity), [])
            for inner in odd_packed_struct(array, page).packed_struct.inner:
                seen.add(inner.nullable.no_nulls.values.flat.buffer.buffer_index)
        assert seen == named
        assert bytes(page.buffers[0]) == b"\x01\x02\0"


def test_buffers_are_numbered_anew():
    """Whatever the order, each part finds its own."""
    array = pa.array([1, None, 3], pa.int16())
    orders = set()
    for seed in range(20):
        page = OddPage(Chance(seed, {"buffers of a page in any order"}), [])
        parts = page.mixed(odd_fixed(array, page)).nullable.some_nulls
        first, second = parts.validity.flat.buffer, parts.values.flat.buffer
        orders.add((first.buffer_index, second.buffer_index))
        assert np.frombuffer(page.buffers[second.buffer_index], "<i2").tolist() == [1, 0, 3]

    assert orders == {(0, 1), (1, 0)}

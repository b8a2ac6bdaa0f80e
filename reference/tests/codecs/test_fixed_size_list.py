"""Fixed-size lists: bitmaps per level, chunks against zipped values, lists of nulls."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from lanceref.codecs import blocks, fixed_size_list
from lanceref.codecs.description_checks import value_bits
from lanceref.codecs.values import Fixed, FixedSizeList
from lanceref.core.errors import CorruptPage

from .encodings import constant, flat, lists
from .runs import CTX, PLACE, check, damaged, gives_values_or_refuses, plain, run_of, words


def bitmap(bits):
    """Pack validity, least significant bit first."""
    packed = sum(bool(bit) << i for i, bit in enumerate(bits))
    return packed.to_bytes((len(bits) + 7) // 8, "little")


def rows_of(values):
    """Return zipped values of equal size as a matrix."""
    return np.frombuffer(b"".join(values), np.uint8).reshape(len(values), -1)


def test_a_bitmap_of_items_comes_before_them():
    """Two lists of three, one item null, in a chunk: one byte of validity, six items."""
    encoding = lists(3, flat(16), True).fixed_size_list
    run = run_of([bitmap([1, 0, 1, 1, 1, 1])], [words([1, 0, 3, 4, 5, 6], 16)], counts=[2])

    assert [[1, None, 3], [4, 5, 6]] == plain(fixed_size_list.decode_mini(encoding, run))


def test_a_zipped_value_has_bitmaps_of_its_own():
    """The same lists zipped: each value begins with a byte of validity."""
    encoding = lists(3, flat(16), True).fixed_size_list
    rows = rows_of([b"\x05" + words([1, 0, 3], 16), b"\x07" + words([4, 5, 6], 16)])

    decoded = fixed_size_list.decode_zip(encoding, rows, CTX, PLACE)

    assert [[1, None, 3], [4, 5, 6]] == plain(decoded)


def test_the_dictionary_of_nested_lists_takes_eight_bytes_a_value():
    """FSL<FSL<i16, 1>, 3> with both bitmaps is 1 + 1 + 6 bytes, the outer level first."""
    encoding = lists(3, lists(1, flat(16), True), True)
    data = (b"\x03\x05" + words([1, 2, 3], 16)) * 2

    assert 64 == value_bits(encoding)
    decoded = blocks.decode_blocks(encoding, run_of([data], counts=[2]))
    assert [[[1], [None], None]] * 2 == plain(decoded)


def test_items_that_are_all_null_have_no_bytes():
    """`constant {}` below a list: a bitmap of zeros, and values of no bits."""
    encoding = lists(4, constant(), True).fixed_size_list

    decoded = fixed_size_list.decode_zip(encoding, rows_of([b"\0"] * 3), CTX, PLACE)

    assert isinstance(decoded, FixedSizeList)
    assert decoded.items == Fixed(0, 12, decoded.items.data)
    assert not decoded.validity.any()
    check(decoded)


def test_lists_of_bits_stay_packed():
    """Eight bits are a byte."""
    encoding = lists(8, flat(1)).fixed_size_list
    rows = rows_of([b"\xfd", b"\x02"])

    wanted = [[1, 0, 1, 1, 1, 1, 1, 1], [0, 1, 0, 0, 0, 0, 0, 0]]
    assert wanted == plain(fixed_size_list.decode_zip(encoding, rows, CTX, PLACE))


def test_zipped_bits_that_do_not_fill_bytes_are_refused():
    """Three booleans in a byte of their own are no zipped value."""
    encoding = lists(3, flat(1)).fixed_size_list

    with pytest.raises(CorruptPage, match="whole-bytes"):
        fixed_size_list.decode_zip(encoding, rows_of([b"\x05"]), CTX, PLACE)


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=3),
    st.integers(1, 3),
    st.integers(1, 5),
    st.booleans(),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_nested_lists_of_any_chunks_come_back(counts, outer, inner, has_outer, has_inner, random):
    """Both forms give the lists that a slow writer wrote."""
    encoding = lists(outer, lists(inner, flat(8), has_inner), has_outer)
    wanted, bitmaps, inner_bitmaps, items, zipped = [], [], [], [], []
    for count in counts:
        outer_ok = [[random.random() < 0.7 for _ in range(outer)] for _ in range(count)]
        inner_ok = [[random.random() < 0.7 for _ in range(outer * inner)] for _ in range(count)]
        cells = [[random.randrange(256) for _ in range(outer * inner)] for _ in range(count)]
        for row in range(count):
            parts = []
            for i in range(outer):
                part = [
                    cells[row][k] if inner_ok[row][k] or not has_inner else None
                    for k in range(i * inner, i * inner + inner)
                ]
                parts.append(part if outer_ok[row][i] or not has_outer else None)
            wanted.append(parts)
            zipped.append(
                (bitmap(outer_ok[row]) if has_outer else b"")
                + (bitmap(inner_ok[row]) if has_inner else b"")
                + bytes(cells[row])
            )
        bitmaps.append(bitmap([ok for row in outer_ok for ok in row]))
        inner_bitmaps.append(bitmap([ok for row in inner_ok for ok in row]))
        items.append(b"".join(map(bytes, cells)))
    buffers = [bitmaps] * has_outer + [inner_bitmaps] * has_inner + [items]
    run = run_of(*buffers, counts=counts)

    assert wanted == plain(fixed_size_list.decode_mini(encoding.fixed_size_list, run))
    block = run_of([b"".join(zipped)], counts=[sum(counts)])
    assert wanted == plain(blocks.decode_blocks(encoding, block))


@pytest.mark.parametrize(
    ("encoding", "row", "clause"),
    [
        (lists(3, flat(16)), bytes(7), "L.codec.fixed-size-list.size"),
        (lists(3, constant(), True), b"\x01", "L.codec.fixed-size-list.all-null"),
        (lists(3, constant(), True), b"\x00\x00", "L.codec.fixed-size-list.all-null"),
    ],
)
def test_faulty_values_are_refused(encoding, row, clause):
    """A value has its bitmaps and its items, and nothing else."""
    with pytest.raises(CorruptPage, match=clause.replace(".", r"\.")):
        fixed_size_list.decode_zip(encoding.fixed_size_list, rows_of([row]), CTX, PLACE)


def test_a_bitmap_of_another_size_is_refused():
    """Six items need one byte of validity."""
    encoding = lists(3, flat(16), True).fixed_size_list

    with pytest.raises(CorruptPage, match=r"L\.codec\.fixed-size-list\.bitmap"):
        fixed_size_list.decode_mini(encoding, run_of([b"12"], [bytes(12)], counts=[2]))


def test_lists_of_nulls_are_refused_in_chunks():
    """Items that are all null occur in zipped values only."""
    encoding = lists(4, constant(), True).fixed_size_list

    with pytest.raises(CorruptPage, match=r"L\.codec\.fixed-size-list\.all-null"):
        fixed_size_list.decode_mini(encoding, run_of([b"\0"], [b""], counts=[2]))


@given(st.data())
@settings(max_examples=100)
def test_damaged_chunks_are_refused_or_read(draw):
    """Any bytes give values or a LanceError."""
    encoding = lists(3, flat(16), True).fixed_size_list
    run = run_of([b"\x07", b"\x3f"], [bytes(6), bytes(12)], counts=[1, 2])

    gives_values_or_refuses(
        lambda part: fixed_size_list.decode_mini(encoding, part), damaged(draw, run)
    )

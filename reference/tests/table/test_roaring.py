"""Roaring bitmaps."""

import numpy as np
import pyroaring
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context, Finding
from lanceref.core.cursor import Cursor
from lanceref.core.errors import LanceError, LimitExceeded
from lanceref.table.roaring import parse_bitmap

WORKED = bytes.fromhex("3a30000001000000000001001000000001000300")
"""{1, 3}: one array container."""


def _parse(data: bytes):
    return parse_bitmap(Cursor(memoryview(data), 0, Context("d.bin")))


def _words(*values: int) -> bytes:
    return np.array(values, "<u2").tobytes()


def test_the_worked_bitmap_reads_as_written():
    """{1, 3} in twenty bytes."""
    values = _parse(WORKED)

    assert [1, 3] == values.tolist()
    assert np.uint32 == values.dtype


def test_container_offsets_are_held_against_the_containers():
    """The container of the worked bitmap starts at 16; 17 reads as well and is reported."""
    findings: list[Finding] = []
    data = WORKED[:12] + b"\x11" + WORKED[13:]
    values = parse_bitmap(Cursor(memoryview(data), 0, Context("d.bin", findings=findings)))

    assert [1, 3] == values.tolist() == _parse(data).tolist()
    assert ["L.table.roaring.offsets"] == [finding.clause for finding in findings]


def test_runs_are_read():
    """0..8 and 20 in one run container, without offsets."""
    data = _words(12347, 0) + b"\x01" + _words(0, 9, 2, 0, 8, 20, 0)

    assert [*range(9), 20] == _parse(data).tolist()


@pytest.mark.parametrize(
    "values",
    [
        [],
        [2**32 - 1],
        range(4096),
        range(4097),
        range(9000),
        range(0, 2**17, 2),
        [key << 16 for key in range(5)],
    ],
    ids=["none", "last", "array", "bitmap", "one bitmap", "two bitmaps", "five containers"],
)
@pytest.mark.parametrize("optimize", [False, True])
def test_what_the_library_writes_is_read(values, optimize):
    """Arrays, bitmaps, runs, with and without offsets."""
    bitmap = pyroaring.BitMap(list(values), optimize=optimize)

    assert list(values) == _parse(bitmap.serialize()).tolist()


@given(
    st.sets(st.integers(0, 2**32 - 1) | st.integers(0, 70_000), max_size=300),
    st.lists(st.tuples(st.integers(0, 2**32 - 9000), st.integers(1, 9000)), max_size=4),
    st.booleans(),
)
def test_any_set_reads_back(values, runs, optimize):
    """Scattered values and runs, as the library serialises them."""
    bitmap = pyroaring.BitMap(values)
    for start, length in runs:
        bitmap.add_range(start, start + length)
    if optimize:
        bitmap.run_optimize()

    assert np.array_equal(np.array(bitmap.to_array()), _parse(bitmap.serialize()))


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (b"\x00" * 8, "L.table.roaring.cookie"),
        (WORKED[:7], "L.table.roaring.containers"),
        (_words(12346, 0, 65535, 65535), "L.table.roaring.containers"),
        (_words(12346, 0, 1, 1), "L.table.roaring.containers"),
        (WORKED[:-1], "L.table.roaring.containers"),
        (WORKED + b"\0", "L.table.roaring.end"),
        (WORKED[:-4] + _words(3, 1), "L.table.roaring.order"),
        (WORKED[:-4] + _words(3, 3), "L.table.roaring.order"),
        (_words(12347, 0) + b"\x01" + _words(0, 9, 2, 0, 8, 5, 0), "L.table.roaring.order"),
        (_words(12347, 0) + b"\x01" + _words(0, 9, 1, 65535, 9), "L.table.roaring.order"),
        (_words(12347, 0) + b"\x01" + _words(0, 9, 1, 0, 8), "L.table.roaring.containers"),
        (_words(12347, 1) + b"\x00" + _words(1, 0, 1, 0, 7, 7), "L.table.roaring.order"),
    ],
    ids=[
        "cookie",
        "no count",
        "too many containers",
        "container count 65537",
        "short",
        "long",
        "falling",
        "twice",
        "runs overlap",
        "run too long",
        "cardinality",
        "keys",
    ],
)
def test_a_broken_bitmap_is_refused(data, clause):
    """Each rule has its clause."""
    with pytest.raises(LanceError) as caught:
        _parse(data)

    assert clause == caught.value.clause


def _full_runs(containers: int) -> bytes:
    """A bitmap in which every container is one run of 65 536 values, 14 bytes each."""
    numbers = range(containers)
    head = (12347 | (containers - 1) << 16).to_bytes(4, "little")
    head += b"\xff" * -(-containers // 8) + _words(*(w for key in numbers for w in (key, 65535)))
    return head + bytes(4 * containers) + _words(1, 0, 65535) * containers


def test_runs_that_expand_too_far_are_refused_before_they_do():
    """100 containers are 6 553 600 values; 2 000 would be 131 072 000 values, 28 kB stored."""
    assert 6_553_600 == len(_parse(_full_runs(100)))
    with pytest.raises(LimitExceeded) as caught:
        _parse(_full_runs(2000))

    assert ("L.table.limits.bitmap", "131072000 values") == (
        caught.value.clause,
        caught.value.found,
    )


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_damage_never_escapes(mask):
    """Every byte of a bitmap of runs and arrays flipped."""
    whole = pyroaring.BitMap([*range(50), *range(2**16, 2**16 + 90, 3)])
    whole.run_optimize()
    for at in range(len(whole.serialize())):
        data = bytearray(whole.serialize())
        data[at] ^= mask
        try:
            values = _parse(bytes(data))
            assert np.all(values[1:] > values[:-1])
        except LanceError as error:
            assert error.clause.startswith("L.table.roaring.")
            assert str(error.found) and str(error.wanted)

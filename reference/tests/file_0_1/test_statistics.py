"""Statistics of 0.1: bounds of values, what they must enclose, and where they are stored."""

import math
import struct
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.arrow_buffers import STRINGS
from lanceref.file_0_1 import statistics

from ..file.in_memory import opened, written
from .building import metadata_of

NAN, INF = math.nan, math.inf


def _forms(bounds):
    """Return the least and the greatest value as they are stored."""
    values = pa.concat_arrays(bounds.flatten()[1:])
    if pa.types.is_boolean(values.type):
        return tuple(values.to_pylist())
    if values.type in STRINGS:
        return tuple(values.cast(pa.large_binary()).to_pylist())
    data, width = values.buffers()[1].to_pybytes(), values.type.bit_width // 8
    return data[:width], data[width : 2 * width]


@pytest.mark.parametrize(
    ("array", "nulls", "low", "high"),
    [
        (pa.array([3, None, 1], pa.int16()), 1, b"\x01\x00", b"\x03\x00"),
        (pa.nulls(2, pa.int8()), 2, b"\x80", b"\x7f"),
        (pa.nulls(1, pa.uint16()), 1, b"\x00\x00", b"\xff\xff"),
        (pa.nulls(1, pa.date32()), 1, b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f"),
        (pa.array([True, True]), 0, True, True),
        (pa.array([False, None]), 1, False, False),
        (pa.array([False, True]), 0, False, True),
        (pa.nulls(1, pa.bool_()), 1, False, True),
        (pa.nulls(1, pa.decimal128(3)), 1, bytes(15) + b"\x80", b"\xff" * 15 + b"\x7f"),
        (pa.array(["b", None, "a"]), 1, b"a", b"b"),
        (pa.nulls(2, pa.binary()), 2, None, None),
        (pa.array(["z" * 65]), 0, b"z" * 64, b"z" * 63 + b"{"),
        (pa.array(["z" * 65, "a"]), 0, b"a", b"z" * 63 + b"{"),
        (pa.array([b"\xff" * 65]), 0, b"\xff" * 64, None),
        (pa.array([b"a" * 65, b"b" * 65]), 0, b"a" * 64, b"b" * 63 + b"c"),
        (pa.array([b"\x01" + b"\xff" * 70]), 0, b"\x01" + b"\xff" * 63, b"\x02" + bytes(63)),
        (pa.array(["ü" * 40 + "x"]), 0, "ü".encode() * 32, "ü".encode() * 31 + "ý".encode()),
        (pa.array(["x" + "ü" * 40]), 0, b"x" + "ü".encode() * 31, b"x" + ("ü" * 30 + "ý").encode()),
    ],
)
def test_bounds_by_hand(array, nulls, low, high):
    """As they are stored."""
    bounds = statistics.bounds_of(array)
    assert (nulls, low, high) == (bounds.field(0)[0].as_py(), *_forms(bounds))


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([1.0, NAN, 2.0], 1.0, 2.0),
        ([NAN, None], -INF, INF),
        ([0.0, 1.0], -0.0, 1.0),
        ([-1.0, -0.0], -1.0, 0.0),
        ([-INF, INF], -INF, INF),
    ],
)
@pytest.mark.parametrize(("type_", "form"), [(pa.float32(), "<f"), (pa.float64(), "<d")])
def test_floats(values, low, high, type_, form):
    """NaN is left out, a least zero is negative and a greatest positive."""
    bounds = statistics.bounds_of(pa.array(values, type_, from_pandas=False))
    assert (struct.pack(form, low), struct.pack(form, high)) == _forms(bounds)


@given(st.text(min_size=1))
def test_incremented_text_is_greater_and_valid(text):
    """Unless nothing can grow."""
    grown = statistics.increment_text(text.encode())
    assert grown is None or (grown > text.encode() and len(grown.decode()) == len(text))


@given(st.binary(min_size=1))
def test_incremented_bytes_are_the_next_number(value):
    """Of the same length; all 255 has no next."""
    grown = statistics.increment(value)
    assert (grown is None) == (set(value) == {255})
    if grown is not None:
        assert int.from_bytes(value, "big") + 1 == int.from_bytes(grown, "big")


@given(st.text())
def test_a_prefix_is_whole_characters(text):
    """At most 64 bytes, and no character less than fits."""
    cut = statistics.prefix(text.encode(), text=True).decode()
    assert text.startswith(cut)
    assert len(cut.encode()) <= 64
    assert cut == text or len(text[: len(cut) + 1].encode()) > 64


ONE = {
    pa.int8(): 1,
    pa.date64(): date(2020, 1, 2),
    pa.bool_(): True,
    pa.string(): "x",
    pa.decimal128(5, 2): Decimal("1.25"),
}


@pytest.mark.parametrize(("type_", "value"), ONE.items(), ids=map(str, ONE))
def test_bounds_become_an_array_of_the_type(type_, value):
    """One value for each batch."""
    batches = [
        statistics.bounds_of(pa.nulls(1, type_)),
        statistics.bounds_of(pa.array([value], type_)),
    ]
    _, lows, highs = pa.concat_arrays(batches).flatten()
    assert (type_, 2) == (lows.type, len(lows))
    assert [value] * 2 == [lows[1].as_py(), highs[1].as_py()]


@given(
    st.lists(st.none() | st.integers(-128, 127), min_size=1).map(lambda v: pa.array(v, pa.int8()))
    | st.lists(st.none() | st.floats(width=32), min_size=1).map(lambda v: pa.array(v, pa.float32()))
    | st.lists(st.none() | st.text(), min_size=1).map(lambda v: pa.array(v, pa.string()))
    | st.lists(st.none() | st.binary(min_size=60), min_size=1).map(
        lambda v: pa.array(v, pa.large_binary())
    )
)
def test_bounds_that_are_written_enclose_the_values(array):
    """Every null reads as zero or null."""
    null_count, *bounds = (one[0] for one in statistics.bounds_of(array).flatten())
    seen = (
        array
        if pa.types.is_string(array.type)
        else array.fill_null(
            pa.scalar(0).cast(array.type) if not pa.types.is_large_binary(array.type) else b""
        )
    )
    assert [] == list(statistics.faults(seen, null_count.as_py(), *bounds))


def _stored(data):
    file = opened(data)
    return statistics.parse_statistics(file.bytes, file.metadata, file.manifest.extent.offset)


def test_each_batch_has_a_row_and_fields_below_structs_are_covered():
    """Those below lists are not; without covered fields there are no statistics."""
    strings = pa.table({"s": ["b", "a", None, None, "c"]})
    rows = _stored(written(strings, "0.1", group_rows=2)).by_field["0"].to_pylist()
    columns = {"l": [[1]], "s": [{"a": 1, "b": "x", "t": None}], "c": [1.0]}
    times = written(pa.table({"t": pa.array([1], pa.timestamp("s"))}), "0.1")
    schema = opened(written(pa.table(columns), "0.1")).manifest.schema

    assert [(0, "a", "b"), (2, None, None), (0, "c", "c")] == [tuple(r.values()) for r in rows]
    assert [3, 4, 6] == [field.id for field in statistics.covered_fields(schema)]
    assert _stored(times) is None
    assert not metadata_of(times)[1].HasField("statistics")

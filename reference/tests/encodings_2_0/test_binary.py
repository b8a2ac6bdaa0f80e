"""Strings and their end offsets."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.errors import CorruptPage
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import Column, Page, binary, flat, open_built, read_built, scanned, taken, words

WORKED = [words(7, 3, 6, 13, 13, 13), b"foofoo"]


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string()])
def test_the_worked_page(type_):
    """7, 3, 6, 13, 13, 13 over foofoo: two strings, the null before them owning nothing."""
    found = read_built(type_, binary(7), 6, *WORKED)

    assert [None, "foo", "foo", None, None, None] == found.to_pylist()
    assert type_ == found.type


def test_a_null_row_may_own_bytes():
    """Its bytes are passed over."""
    found = read_built(pa.binary(), binary(6), 3, words(1, 3 + 6, 5), b"axxbc")

    assert [b"a", None, b"bc"] == found.to_pylist()


def test_a_page_without_rows():
    """Two empty buffers and no adjustment: the items of empty lists."""
    assert [] == read_built(pa.string(), binary(0), 0, b"", b"").to_pylist()


def test_bytes_of_another_width_are_refused():
    """The bytes of strings are flat values of 8 bits."""
    encoding = pb.ArrayEncoding(binary={"indices": flat(64), "bytes": flat(16, 1)})

    with pytest.raises(CorruptPage, match=r"L\.array\.binary\.bytes-width"):
        read_built(pa.string(), encoding, 1, words(0), b"")


def test_strings_that_are_not_utf8_are_refused_and_byte_strings_are_not():
    """Only text has to be valid UTF-8, and only where it is not null."""
    with pytest.raises(CorruptPage, match=r"L\.array\.binary\.utf8"):
        read_built(pa.string(), binary(2), 1, words(1), b"\xff")
    assert [b"\xff"] == read_built(pa.binary(), binary(2), 1, words(1), b"\xff").to_pylist()
    assert [None] == read_built(pa.string(), binary(2), 1, words(3), b"\xff").to_pylist()


def test_strings_of_a_number_field_are_refused():
    """Binary pages hold strings or byte strings."""
    with pytest.raises(CorruptPage, match=r"L\.array\.binary\.type"):
        read_built(pa.int8(), binary(2), 1, words(1), b"a")


def test_another_adjustment_reads_well_and_is_reported():
    """A writer adds one more than the last end; a reader takes any larger one."""
    findings = []
    page = Page(binary(100), 2, [words(1, 102), b"ab"])
    column = open_built(pa.string(), [Column([page])], findings=findings)

    column.check()

    assert ["a", None] == scanned(column).to_pylist()
    assert "L.array.binary.null-adjustment-value" == findings[0].clause


def test_bytes_behind_the_last_end_read_well_and_are_reported():
    """Three bytes where the rows own two: the last one is nobody's value."""
    findings = []
    page = Page(binary(3), 2, [words(1, 2), b"abc"])
    column = open_built(pa.string(), [Column([page])], findings=findings)

    column.check()

    assert ["L.array.binary.bytes-end"] == [finding.clause for finding in findings]
    assert ["a", "b"] == scanned(column).to_pylist()


@settings(deadline=None)
@given(
    st.lists(st.none() | st.binary(max_size=5), min_size=1, max_size=40),
    st.sets(st.integers(0, 39), min_size=1),
)
def test_what_is_stored_by_the_rules_reads_back(values, rows):
    """Any byte strings survive, whole and row by row."""
    total = sum(len(value or b"") for value in values)
    at, ends = 0, []
    for value in values:
        at += len(value or b"")
        ends.append(at + (total + 1 if value is None else 0))
    page = Page(binary(total + 1), len(values), [words(*ends), b"".join(v or b"" for v in values)])
    column = open_built(pa.binary(), [Column([page])])
    wanted = sorted(row for row in rows if row < len(values))

    assert values == scanned(column).to_pylist()
    assert [values[row] for row in wanted] == taken(column, *wanted)

"""Constant pages: every form, its levels, its gates, and value buffers byte by byte."""

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BytesError, FormatError
from lanceref.core.limits import Limits
from lanceref.pages.constant import parse_value
from lanceref.pages.layers import ALL_VALID_ITEM, NULL_AND_EMPTY, NULLABLE_ITEM
from lanceref.storage import BytesSource

from .building import (
    LISTS,
    V2_1,
    V2_2,
    field_of,
    flat,
    opened,
    path_to,
    pb,
    scanned,
    taken,
    words,
)
from .nesting import layers_of, shred

ABC = bytes.fromhex("02000000 08000000 03000000 00000000 03000000 616263")


def _value(data: bytes, type_: pa.DataType) -> pa.Array:
    file = FileBytes(BytesSource(data), Context("test"))
    return parse_value(file, Extent(0, len(data)), type_)


def test_worked_value_buffers():
    """The string abc has offsets and bytes; a fixed-size binary has one buffer."""
    fixed = bytes.fromhex("01000000 03000000 616263")

    assert ["abc"] == _value(ABC, pa.string()).to_pylist()
    assert [b"abc"] == _value(fixed, pa.binary(3)).to_pylist()


@pytest.mark.parametrize(
    ("data", "type_"),
    [
        (ABC[:-1], pa.string()),
        (ABC + b"d", pa.string()),
        (ABC, pa.large_string()),
        (ABC, pa.int32()),
        (b"\xff" * 4 + ABC[4:], pa.string()),
        (ABC.replace(b"\x03\0\0\0abc", b"\x04\0\0\0abc"), pa.string()),
        (ABC[:2], pa.string()),
        (ABC[:-1] + b"\xff", pa.string()),
        (bytes.fromhex("01000000 03000000 616263"), pa.binary(4)),
    ],
)
def test_buffers_that_are_not_one_value_are_refused(data, type_):
    """Counts, sizes, offsets, width and UTF-8 are all held against the type."""
    with pytest.raises(FormatError) as caught:
        _value(data, type_)

    assert caught.value.clause.startswith("L.page.")


TEXT = pa.string()
PAIRS = pa.list_(pa.struct([("a", pa.int32())]), 2)
LEVELS = (words(1, 0, 1, 1, width=2), words(1, 1, 3, 2, width=2))
"""The worked levels of [[null, null], [], null]."""
LIST_CODES = (NULLABLE_ITEM, NULL_AND_EMPTY)


def _layout(*layers: int, **fields: object) -> pb.PageLayout:
    return pb.PageLayout(constant_layout={"layers": layers, **fields})


def _clause(type_, layout, num_rows, *buffers, version=V2_2, **more):
    with pytest.raises(BytesError) as caught:
        page = opened(type_, layout, num_rows, *buffers, version=version, **more)
        scanned(page, type_)
    return caught.value.clause.removeprefix("L.page.")


@pytest.mark.parametrize(
    ("type_", "layout", "buffers", "rows"),
    [
        (pa.int32(), _layout(NULLABLE_ITEM), (), [None] * 3),
        (pa.int32(), _layout(ALL_VALID_ITEM, inline_value=words(7)), (), [7] * 3),
        (pa.bool_(), _layout(ALL_VALID_ITEM, inline_value=b"\1"), (), [True] * 3),
        (TEXT, _layout(ALL_VALID_ITEM), (ABC,), ["abc"] * 3),
        (LISTS, _layout(*LIST_CODES), LEVELS, [[None, None], [], None]),
        (LISTS, _layout(*LIST_CODES, inline_value=words(7)), LEVELS, [[None, None], [], None]),
        (
            LISTS,
            _layout(ALL_VALID_ITEM, NULL_AND_EMPTY, inline_value=words(7)),
            (LEVELS[0], words(0, 0, 2, 1, width=2)),
            [[7, 7], [], None],
        ),
        (
            pa.list_(TEXT),
            _layout(ALL_VALID_ITEM, NULL_AND_EMPTY),
            (ABC, LEVELS[0], words(0, 0, 2, 1, width=2)),
            [["abc", "abc"], [], None],
        ),
        (
            pa.int32(),
            _layout(NULLABLE_ITEM, inline_value=words(7)),
            (b"", words(0, 1, 0, width=2)),
            [7, None, 7],
        ),
        (pa.struct([]), _layout(NULLABLE_ITEM), (), [{}] * 3),
        (pa.null(), _layout(NULLABLE_ITEM), (), [None] * 3),
    ],
)
def test_every_form_reads(type_, layout, buffers, rows):
    """No value, one in the description, one in a buffer; with and without levels."""
    page = opened(type_, layout, 3, *buffers, version=V2_2)
    page.check()

    assert rows == scanned(page, type_)
    assert [rows[0], rows[2]] == taken(page, type_, 0, 2)


def test_levels_may_have_codecs():
    """All-null pages of 2.2: each kind with its count, and either may be absent."""
    flat_levels = {"rep_compression": flat(16), "def_compression": flat(16)}
    counts = {"num_rep_values": 4, "num_def_values": 4}
    both = _layout(*LIST_CODES, **flat_levels, **counts)
    definition = _layout(NULLABLE_ITEM, NULLABLE_ITEM, def_compression=flat(16), num_def_values=3)
    one_field = pa.struct([("x", pa.int32())])
    page = opened(one_field, definition, 3, b"", words(2, 1, 2, width=2), version=V2_2)

    assert [[None, None], [], None] == scanned(opened(LISTS, both, 3, *LEVELS, version=V2_2), LISTS)
    assert [None, {"x": None}, None] == scanned(page, one_field)


@pytest.mark.parametrize(
    ("type_", "layout", "buffers", "clause"),
    [
        (pa.int32(), _layout(ALL_VALID_ITEM, inline_value=words(7)), (b"",), "constant.form"),
        (pa.int32(), _layout(NULLABLE_ITEM), (b"",) * 4, "constant.form"),
        (
            pa.int32(),
            _layout(ALL_VALID_ITEM, inline_value=words(7), rep_compression=flat(16)),
            (),
            "constant.raw-levels",
        ),
        (TEXT, _layout(NULLABLE_ITEM, def_compression=flat(16)), (ABC,), "constant.raw-levels"),
        (pa.int32(), _layout(NULLABLE_ITEM, def_compression=flat(16)), (), "constant.raw-levels"),
        (PAIRS, _layout(1, 1, 1, inline_value=bytes(8)), (), "constant.inline-size"),
        (pa.list_(pa.int32(), 2), _layout(1, inline_value=bytes(8)), (), "constant.value-type"),
        (
            pa.dictionary(pa.int8(), TEXT),
            _layout(ALL_VALID_ITEM, inline_value=b"\0"),
            (),
            "constant.value-type",
        ),
        (TEXT, _layout(ALL_VALID_ITEM, inline_value=b"abc"), (), "constant.inline-size"),
        (
            pa.binary(33),
            _layout(ALL_VALID_ITEM, inline_value=bytes(33)),
            (),
            "constant.inline-size",
        ),
        (LISTS, _layout(*LIST_CODES), (), "constant.repetition"),
        (LISTS, _layout(*LIST_CODES, inline_value=words(7)), (), "constant.repetition"),
        (pa.int32(), _layout(NULLABLE_ITEM), (LEVELS[0], b""), "constant.repetition"),
        (LISTS, _layout(*LIST_CODES), (LEVELS[0], LEVELS[1][:-1]), "constant.level-bytes"),
        (LISTS, _layout(*LIST_CODES), (LEVELS[0], LEVELS[1][:-2]), "constant.level-count"),
        (pa.int32(), _layout(NULLABLE_ITEM), (b"", bytes(4)), "constant.level-count"),
        (LISTS, _layout(*LIST_CODES), (bytes(2) + LEVELS[0][2:], LEVELS[1]), "levels.first-entry"),
        (LISTS, _layout(*LIST_CODES), (words(1, 1, 1, 1, width=2), LEVELS[1]), "levels.rows"),
        (LISTS, _layout(*LIST_CODES), (LEVELS[0], words(1, 1, 4, 2, width=2)), "levels.def-range"),
    ],
)
def test_pages_of_no_form_are_refused(type_, layout, buffers, clause):
    """One fault each."""
    rows = 4 if type_ == PAIRS else 3

    assert clause == _clause(type_, layout, rows, *buffers)


def test_levels_have_a_count():
    """Bytes of definition levels, and a count of none."""
    flat_levels = {"rep_compression": flat(16), "def_compression": flat(16)}
    layout = _layout(*LIST_CODES, **flat_levels, num_rep_values=4)

    assert "constant.level-count" == _clause(LISTS, layout, 3, *LEVELS)


def test_2_1_has_nulls_alone():
    """Neither a value nor levels with a codec."""
    for layout, buffers in (
        (_layout(ALL_VALID_ITEM, inline_value=words(7)), ()),
        (_layout(NULLABLE_ITEM, def_compression=flat(16)), (b"", LEVELS[1])),
        (_layout(ALL_VALID_ITEM), (ABC,)),
    ):
        assert "constant.only-null" == _clause(pa.int32(), layout, 3, *buffers, version=V2_1)


def test_what_a_page_expands_to_is_bounded():
    """Levels of 16 bytes each, and one row of many slots."""
    levels = _layout(*LIST_CODES)
    row = _layout(1, 1, 1, inline_value=words(7))
    less = Limits(expansion_bytes=63, expansion_factor=0)
    wide = pa.list_(pa.struct([("a", pa.int32())]), 16)

    assert "limits.levels" == _clause(LISTS, levels, 3, *LEVELS, limits=less)
    assert "limits.constant" == _clause(wide, row, 16, limits=less)
    enough = Limits(expansion_bytes=64, expansion_factor=0)
    assert [[{"a": 7}] * 16] == scanned(opened(wide, row, 16, version=V2_2, limits=enough), wide)


def test_scans_go_by_runs(monkeypatch):
    """Numbers of four bytes, two to a run; a list is never cut."""
    monkeypatch.setattr("lanceref.pages.constant.RUN_BYTES", 8)
    numbers = opened(pa.int32(), _layout(1, inline_value=words(7)), 5, version=V2_2)
    layout = _layout(ALL_VALID_ITEM, NULL_AND_EMPTY, inline_value=words(7))
    levels = words(1, 0, 0, 1, 1, width=2), words(0, 0, 0, 1, 0, width=2)
    lists = opened(LISTS, layout, 3, *levels, version=V2_2)

    assert [2, 2, 1] == [part.num_rows for part in numbers.scan(0, 5)]
    assert [1, 2] == [part.num_rows for part in lists.scan(0, 3)]


@given(
    st.lists(st.none() | st.lists(st.none() | st.just(7), max_size=4), min_size=1, max_size=20),
    st.data(),
)
def test_levels_beside_a_value_come_back(rows, data):
    """Whole, and any rows of them."""
    layers = layers_of(path_to(field_of(LISTS)), LIST_CODES)
    rep, definition, _, _ = shred(rows, layers)
    buffers = words(*rep, width=2), words(*definition, width=2)
    layout = _layout(*LIST_CODES, inline_value=words(7))
    page = opened(LISTS, layout, len(rows), *buffers, version=V2_2)
    wanted = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), min_size=1)))

    assert rows == scanned(page, LISTS)
    assert [rows[row] for row in wanted] == taken(page, LISTS, *wanted)

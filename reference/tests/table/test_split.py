"""Split columns: parts of one field joined again."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LimitExceeded
from lanceref.table.columns import NullColumn, SplitColumn

CTX = Context("m.manifest")
PLACE = CTX.at(4, 50)


class Held:
    """A column reader over an array, which yields pieces of a given size."""

    def __init__(self, array: pa.Array, piece: int) -> None:
        self.type, self.num_rows = array.type, len(array)
        self._array, self._piece = array, piece

    def scan(self, start, end):
        """Yield pieces of start..end."""
        for at in range(start, end, self._piece):
            yield self._array.slice(at, min(self._piece, end - at))

    def take(self, rows):
        """Return the given rows."""
        return self._array.take(pa.array(rows))

    def check(self):
        """There is nothing to check."""


INNER = pa.struct([("p", pa.int8()), ("q", pa.string())])
WHOLE = {
    "struct": (
        pa.struct([("x", pa.int64()), ("y", pa.string())]),
        [{"x": 1, "y": "a"}, None, {"x": None, "y": "b"}, {"x": 4, "y": None}],
    ),
    "struct below a struct": (
        pa.struct([("t", INNER)]),
        [{"t": {"p": 1, "q": "a"}}, None, {"t": None}, {"t": {"p": None, "q": None}}],
    ),
    "list": (
        pa.list_(INNER),
        [[{"p": 1, "q": "a"}], None, [], [{"p": 2, "q": None}, None]],
    ),
    "large list": (
        pa.large_list(INNER),
        [None, [{"p": 1, "q": "a"}, {"p": 3, "q": "c"}], None, []],
    ),
    "fixed-size list": (
        pa.list_(INNER, 2),
        [[{"p": 1, "q": "a"}, None], None, [{"p": 5, "q": "b"}] * 2, [None, None]],
    ),
}


def _part(type_: pa.DataType, keep: str) -> pa.DataType:
    """The type with only the leaf `keep` left."""
    if pa.types.is_struct(type_):
        kept = [f.with_type(_part(f.type, keep)) for f in type_ if f.name in (keep, "t")]
        return pa.struct(kept)
    if pa.types.is_fixed_size_list(type_):
        return pa.list_(_part(type_.value_type, keep), type_.list_size)
    if pa.types.is_large_list(type_):
        return pa.large_list(_part(type_.value_type, keep))
    if pa.types.is_list(type_):
        return pa.list_(_part(type_.value_type, keep))
    return type_


def _prune(value, keep: str):
    if isinstance(value, list):
        return [_prune(item, keep) for item in value]
    if isinstance(value, dict):
        return {k: _prune(v, keep) for k, v in value.items() if k in (keep, "t")}
    return value


def _column(type_, values, leaves, *pieces):
    parts = [
        Held(pa.array([_prune(v, leaf) for v in values], _part(type_, leaf)), piece)
        for leaf, piece in zip(leaves, pieces, strict=True)
    ]
    return SplitColumn(type_, parts, len(values), PLACE)


@pytest.mark.parametrize("kind", WHOLE)
def test_two_parts_make_the_whole(kind):
    """However each part is cut: by scan and by take."""
    type_, values = WHOLE[kind]
    leaves = ["x", "y"] if kind == "struct" else ["p", "q"]
    for first, second in ((1, 3), (4, 1), (2, 2), (3, 4)):
        column = _column(type_, values, leaves, first, second)
        found = pa.chunked_array(column.scan(0, 4), type_)

        found.validate(full=True)
        assert values == found.to_pylist()
        assert values[1:3] == pa.chunked_array(column.scan(1, 3), type_).to_pylist()
        assert [values[0], values[2], values[2]] == column.take(np.array([0, 2, 2])).to_pylist()


@pytest.mark.parametrize("kind", WHOLE)
def test_what_no_part_holds_is_null(kind):
    """The other leaf is null, the rest stands."""
    type_, values = WHOLE[kind]
    keep, gone = ("x", "y") if kind == "struct" else ("p", "q")

    def blank(value):
        if isinstance(value, list):
            return [blank(item) for item in value]
        if isinstance(value, dict):
            return {k: None if k == gone else blank(v) for k, v in value.items()}
        return value

    found = pa.chunked_array(_column(type_, values, [keep], 2).scan(0, 4), type_)
    assert [blank(value) for value in values] == found.to_pylist()


def test_lists_of_other_lengths_are_refused():
    """Two files that do not agree on the lists."""
    type_, values = WHOLE["list"]
    other = pa.array([[{"q": "a"}, {"q": "b"}], None, [], [{"q": "c"}]], _part(type_, "q"))
    mine = pa.array([_prune(v, "p") for v in values], _part(type_, "p"))
    with pytest.raises(FormatError) as caught:
        SplitColumn(type_, [Held(mine, 4), Held(other, 4)], 4, PLACE).take(np.arange(4))

    assert ("L.table.datafile.lookup", PLACE) == (caught.value.clause, caught.value.place)


def test_items_behind_null_lists_are_left_out():
    """A null list may hide items; the parts need not hide the same ones."""
    hiding = pa.ListArray.from_arrays(
        pa.array([0, 2, 3], pa.int32()),
        pa.array([{"p": 1}, {"p": 2}, {"p": 3}], _part(INNER, "p")),
        mask=pa.array([True, False]),
    )
    clean = pa.array([None, [{"q": "c"}]], pa.list_(_part(INNER, "q")))
    column = SplitColumn(pa.list_(INNER), [Held(hiding, 2), Held(clean, 2)], 2, PLACE)

    assert [None, [{"p": 3, "q": "c"}]] == column.take(np.arange(2)).to_pylist()


@given(st.integers(0, 3_000_000), st.integers(0, 3_000_000))
def test_null_columns_cover_what_is_asked(start, rows):
    """As many nulls, a run at a time."""
    column = NullColumn(pa.int64(), start + rows, CTX, PLACE)
    arrays = list(column.scan(start, start + rows))

    assert rows == sum(len(array) for array in arrays) == sum(a.null_count for a in arrays)
    assert all(array.nbytes < 2**22 for array in arrays)
    assert [None] * 3 == column.take(np.array([0, 0, 1])).to_pylist()


@pytest.mark.parametrize(
    "type_",
    [
        pa.list_(pa.int64(), 2**31 - 1),
        pa.binary(2**31 - 1),
        pa.struct([("v", pa.list_(pa.list_(pa.int8(), 2**15), 2**12))]),
    ],
    ids=str,
)
def test_rows_wider_than_the_limit_are_refused(type_):
    """A schema of a few bytes can ask for rows of gigabytes."""
    with pytest.raises(LimitExceeded) as caught:
        NullColumn(type_, 1, CTX, PLACE)

    assert "L.table.limits.no-file" == caught.value.clause

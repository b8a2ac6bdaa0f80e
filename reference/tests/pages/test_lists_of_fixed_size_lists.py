"""Lists of fixed-size lists of structs: what is written in 2.2 is read again, null or empty too."""

from __future__ import annotations

import lanceref
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st


def _values(of: pa.DataType) -> st.SearchStrategy[object]:
    if pa.types.is_fixed_size_list(of):
        item = _values(of.value_type)
        present = st.lists(item, min_size=of.list_size, max_size=of.list_size)
    elif pa.types.is_list(of):
        present = st.lists(_values(of.value_type), max_size=3)
    elif pa.types.is_struct(of):
        present = st.fixed_dictionaries({field.name: _values(field.type) for field in of})
    else:
        present = st.integers(-9, 9)
    return st.none() | present


def _pairs(inner: pa.DataType) -> pa.DataType:
    return pa.list_(pa.struct([("x", inner)]), 2)


TYPES = [
    pa.list_(_pairs(pa.int8())),
    pa.list_(pa.list_(_pairs(pa.int8()))),
    pa.list_(_pairs(pa.list_(pa.int8()))),
    _pairs(pa.list_(_pairs(pa.int8()))),
    pa.list_(_pairs(_pairs(pa.int8()))),
]


@pytest.mark.parametrize("of", TYPES, ids=str)
@given(data=st.data())
def test_lists_around_and_in_fixed_size_lists_are_read_as_they_were(tmp_path_factory, of, data):
    """Null and empty lists outside of a fixed-size list of structs have `dimension` entries too."""
    rows = data.draw(st.lists(_values(of), min_size=1, max_size=6))
    path = tmp_path_factory.mktemp("lists") / "data.lance"
    lanceref.write_file(path, pa.table({"c": pa.array(rows, of)}), "2.2")

    assert rows == lanceref.open_file(path).read()["c"].to_pylist()


def test_the_entries_of_null_and_empty_lists_by_hand(tmp_path):
    """[[(1, 2), (3, 4)], [], null] has four entries, then two and two (chapter 30)."""
    lists = pa.array([[[{"x": 1}, {"x": 2}], [{"x": 3}, {"x": 4}]], [], None], TYPES[0])
    lanceref.write_file(tmp_path / "data.lance", pa.table({"c": lists}), "2.2")
    stored = (tmp_path / "data.lance").read_bytes()

    assert bytes.fromhex("0100 0100 0000 0000 0100 0100 0100 0100") == stored[80:96]
    assert bytes.fromhex("0000 0000 0000 0000 0200 0200 0100 0100") == stored[96:112]

"""Functions of queries."""

import pyarrow as pa
import pytest
from lanceref.errors import QueryRefused
from lanceref.query.functions import FUNCTIONS

TEXT = pa.array(["abc", "", None])
LISTS = pa.array([[1, 2], [], None, [None, 2]])


@pytest.mark.parametrize(
    ("name", "arguments", "values"),
    [
        ("length", [TEXT], [3, 0, None]),
        ("upper", [TEXT], ["ABC", "", None]),
        ("strpos", [TEXT, pa.scalar("c")], [3, 0, None]),
        ("left", [TEXT, pa.scalar(2)], ["ab", "", None]),
        ("right", [TEXT, pa.scalar(2)], ["bc", "", None]),
        ("right", [TEXT, pa.scalar(0)], ["", "", None]),
        ("concat", [TEXT, pa.scalar("!")], ["abc!", "!", "!"]),
        ("coalesce", [TEXT, pa.scalar("z")], ["abc", "", "z"]),
        ("nullif", [TEXT, pa.scalar("")], ["abc", None, None]),
        ("contains", [TEXT, pa.scalar("b")], [True, False, None]),
        ("regexp_like", [TEXT, pa.scalar("^A"), pa.scalar("i")], [True, False, None]),
        ("array_has", [LISTS, pa.scalar(2)], [True, False, None, True]),
        ("array_has_any", [LISTS, pa.scalar([1, 9])], [True, False, None, False]),
        ("array_has_all", [LISTS, pa.scalar([1, 2])], [True, False, None, False]),
        ("array_length", [LISTS], [2, 0, None, 2]),
        ("isnan", [pa.array([1.0, float("nan"), None])], [False, True, None]),
        ("round", [pa.array([1.5, -1.5])], [2.0, -2.0]),
        ("greatest", [pa.array([1, None]), pa.scalar(3)], [3, 3]),
    ],
)
def test_values(name, arguments, values):
    """Null where an argument is null, but for those that are about null."""
    assert values == FUNCTIONS[name](*arguments).to_pylist()


def test_list_slices_are_looked_at_from_their_start():
    """Offsets that do not begin with 0."""
    assert [False, None, True] == FUNCTIONS["array_has"](LISTS[1:], pa.scalar(2)).to_pylist()


def test_a_column_where_a_constant_is_wanted_is_refused():
    """The pattern of a search and the number of letters."""
    for name in ("contains", "left"):
        with pytest.raises(QueryRefused):
            FUNCTIONS[name](TEXT, TEXT)
    with pytest.raises(QueryRefused, match="date part"):
        FUNCTIONS["date_part"](pa.scalar("eon"), pa.scalar(None, pa.date32()))

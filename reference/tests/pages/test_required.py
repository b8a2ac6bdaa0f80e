"""Required values: nulls where none may be are found, and only those."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import CorruptPage, Place
from lanceref.pages.column import check_required, has_required
from pylanceref.file import LanceFileReader, LanceFileWriter

PLACE = Place("f", 7)

NUMBER = pa.field("n", pa.int32(), nullable=False)
STRUCT = pa.struct([NUMBER, ("m", pa.int32())])
LIST = pa.list_(pa.field("item", pa.int32(), nullable=False))
MAP = pa.map_(pa.utf8(), pa.field("value", pa.int32(), nullable=False))


@pytest.mark.parametrize(
    ("field", "rows", "refused"),
    [
        (NUMBER, [1, 2], False),
        (NUMBER, [1, None], True),
        (pa.field("n", pa.int32()), [1, None], False),
        (pa.field("s", STRUCT), [{"n": 1, "m": None}, None], False),
        (pa.field("s", STRUCT), [{"n": None, "m": 1}, None], True),
        (pa.field("s", STRUCT, nullable=False), [{"n": 1, "m": 1}, None], True),
        (pa.field("l", LIST), [[1, 2], None, []], False),
        (pa.field("l", LIST), [[1, None], None, []], True),
        (pa.field("m", MAP), [[("a", 1)], None], False),
        (pa.field("m", MAP), [[("a", None)], None], True),
        (pa.field("l", pa.list_(STRUCT)), [[None, {"n": 1}]], False),
        (pa.field("l", pa.list_(STRUCT)), [[None, {"n": None}]], True),
    ],
)
def test_nulls_of_a_required_field_are_refused(field, rows, refused):
    """But not those that lie under a null."""
    array = pa.array(rows, field.type)
    if refused:
        with pytest.raises(CorruptPage) as caught:
            check_required(field, array, PLACE)
        assert ("L.page.required.null", 7) == (caught.value.clause, caught.value.offset)
    else:
        check_required(field, array, PLACE)


def test_values_under_a_null_list_do_not_count():
    """A null list may keep items, and its null items are nobody's."""
    items = pa.array([1, None, 3], pa.int32())
    lists = pa.ListArray.from_arrays(
        pa.array([0, 1, 2, 3], pa.int32()), items, type=LIST, mask=pa.array([False, True, False])
    )
    check_required(pa.field("l", LIST), lists, PLACE)

    with pytest.raises(CorruptPage):
        check_required(pa.field("l", LIST), pa.ListArray.from_arrays([0, 3], items, LIST), PLACE)


def test_only_types_with_a_required_field_are_looked_into():
    """A map always has one: its keys."""
    assert not has_required(pa.field("s", pa.struct([("a", pa.list_(pa.int8()))])))
    assert has_required(pa.field("s", pa.struct([("a", LIST)])))
    assert has_required(pa.field("m", MAP))
    assert has_required(NUMBER)


@given(st.lists(st.none() | st.fixed_dictionaries({"n": st.none() | st.integers(0, 9)})))
def test_a_struct_is_refused_when_a_valid_row_lacks_the_child(rows):
    """Whatever the null rows hold below."""
    array = pa.array(rows, STRUCT)
    lacking = any(row is not None and row["n"] is None for row in rows)
    try:
        check_required(pa.field("s", STRUCT), array, PLACE)
    except CorruptPage:
        assert lacking
    else:
        assert not lacking


@pytest.mark.parametrize("version", ["2.1", "2.2", "2.3"])
def test_a_file_that_breaks_its_own_schema_is_refused(tmp_path, version):
    """Nullable is 30 01 in the schema: without it the null of the second row is damage."""
    path = tmp_path / "x.lance"
    table = pa.table({"c": pa.array([1, None, 3], pa.int32())})
    with LanceFileWriter(str(path), table.schema, version=version) as writer:
        writer.write_batch(table)
    whole = path.read_bytes()
    at = whole.index(b"int320\x01") + 6
    path.write_bytes(whole[:at] + b"\x00" + whole[at + 1 :])

    with pytest.raises(CorruptPage, match=r"L\.page\.required\.null"):
        LanceFileReader(path).read_all().to_table()

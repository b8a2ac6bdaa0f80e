"""Rows as pages hold them."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import DataRefused
from lanceref.data_file.file_writer import stored_form
from lanceref.file.arrow_schema import schema_of
from lanceref.json.jsonb import document

from ..file_0_1.building import read, written

DOCUMENT = document('{"a":1}')


def _field(type_: pa.DataType):
    return schema_of(pa.schema([("c", type_)])).fields[0]


@pytest.mark.parametrize(
    ("array", "type_", "values"),
    [
        (pa.array(['{"a":1}', None], pa.json_()), pa.large_binary(), [DOCUMENT, None]),
        (pa.array(["x", None], pa.string_view()), pa.string(), ["x", None]),
        (pa.array([b"a" * 16], pa.uuid()), pa.binary(16), [b"a" * 16]),
        (
            pa.array([["x"], None], pa.list_(pa.string_view())),
            pa.list_(pa.string()),
            [["x"], None],
        ),
        (
            pa.array([{"v": b"x"}, None], pa.struct([("v", pa.binary_view())])),
            pa.struct([("v", pa.binary())]),
            [{"v": b"x"}, None],
        ),
    ],
)
def test_other_forms_become_the_stored_one(array, type_, values):
    """At any depth; nulls stay."""
    found = stored_form(array, _field(array.type))
    assert (type_, values) == (found.type, found.to_pylist())


@pytest.mark.parametrize("type_", [pa.int8(), pa.list_(pa.string()), pa.list_(pa.int8(), 2)])
def test_what_is_stored_so_stays_the_same_array(type_):
    """Nothing is copied."""
    array = pa.nulls(3, type_)
    assert array is stored_form(array, _field(type_))


def test_text_that_is_no_json_is_refused():
    """Before anything is written."""
    with pytest.raises(DataRefused):
        written(pa.table({"c": pa.array(["{"], pa.json_())}))


def test_views_and_json_are_written():
    """Statistics too."""
    table = pa.table(
        {"s": pa.array(["x", "y"], pa.string_view()), "j": pa.array(['{"a":1}'] * 2, pa.json_())}
    )
    assert {"s": ["x", "y"], "j": [DOCUMENT] * 2} == read(written(table))


@pytest.mark.oracle
def test_json_is_stored_as_the_oracle_stores_it(tmp_path):
    """The same rows of the same bytes."""
    import lance

    table = pa.table({"c": pa.array(['{"b":[1.5,null],"a":1}', None, '"x"'], pa.json_())})
    lance.write_dataset(table, str(tmp_path / "t"), data_storage_version="legacy")
    (data,) = (tmp_path / "t" / "data").iterdir()

    assert read(data.read_bytes()) == read(written(table))
    assert ['{"a":1,"b":[1.5,null]}', None, '"x"'] == (
        pylanceref.dataset(str(tmp_path / "t")).to_table()["c"].to_pylist()
    )

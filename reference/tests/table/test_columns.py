"""Columns of a fragment, looked up by field id."""

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import BytesError, FormatError, LanceError, LimitExceeded
from lanceref.storage import LocalStore
from lanceref.table.bases import Bases
from lanceref.table.columns import FragmentReader, NullColumn
from pylanceref import write_dataset

from ..file.files import WORKED_FILE
from .manifests import data_file, fragment, minimal, parse

FIELDS = [
    {"name": "a", "id": 0, "parent_id": -1, "logical_type": "int32", "nullable": True},
    {"name": "b", "id": 1, "parent_id": -1, "logical_type": "string", "nullable": True},
]
FORM = {"file_format": "lance", "version": "2.0"}
FILE = data_file(file_minor_version=0, path="worked.lance")
"""The worked file of the container: a column `a` of 1, null, 3."""


def _reader(tmp_path, one, **more):
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "worked.lance").write_bytes(WORKED_FILE)
    given = {"fields": FIELDS, "data_format": FORM, "fragments": [one], **more}
    manifest = parse(minimal(**given))
    bases = Bases(LocalStore(tmp_path), manifest)
    return manifest, FragmentReader(manifest.fragments[0], bases, Context("m.manifest"))


def _values(manifest, reader, number=0):
    column = reader.column(manifest.schema.fields[number])
    return pa.chunked_array(column.scan(0, column.num_rows), column.type).to_pylist()


def test_a_field_is_read_from_the_column_the_manifest_names(tmp_path):
    """The file's own schema does not count: the same column under another id."""
    manifest, reader = _reader(tmp_path, fragment(0, FILE, physical_rows=3))
    assert [1, None, 3] == _values(manifest, reader)

    renamed = [{**FIELDS[0], "name": "z", "id": 9}]
    other = {**FILE, "fields": [9]}
    manifest, reader = _reader(tmp_path, fragment(0, other, physical_rows=3), fields=renamed)
    assert [1, None, 3] == _values(manifest, reader)


def test_a_field_in_no_file_is_null(tmp_path):
    """As many nulls as the fragment has rows."""
    manifest, reader = _reader(tmp_path, fragment(0, FILE, physical_rows=3))

    assert isinstance(reader.column(manifest.schema.fields[1]), NullColumn)
    assert [None] * 3 == _values(manifest, reader, 1)


def test_a_replaced_column_is_null_unless_another_file_has_it(tmp_path):
    """-2 hides the column of the file."""
    gone = {**FILE, "fields": [-2]}
    manifest, reader = _reader(tmp_path, fragment(0, gone, physical_rows=3))

    assert [None] * 3 == _values(manifest, reader)


def test_the_files_say_the_rows_when_the_manifest_does_not(tmp_path):
    """physical_rows 0 is unknown."""
    manifest, reader = _reader(tmp_path, fragment(0, FILE, physical_rows=0))

    assert (3, 3) == (reader.stated_rows, reader.physical_rows)
    assert [1, None, 3] == _values(manifest, reader)


@pytest.mark.parametrize(
    ("file", "rows", "clause"),
    [
        (FILE, 4, "L.table.fragments.rows"),
        (FILE, 2**32 - 1, "L.table.fragments.rows"),
        ({**FILE, "file_size_bytes": 347}, 3, "L.table.datafile.size"),
        ({**FILE, "path": "none.lance"}, 3, "L.table.files.exist"),
        ({**FILE, "path": "n\0ne.lance"}, 3, "L.table.files.exist"),
        ({**FILE, "path": "n" * 5000}, 3, "L.table.files.exist"),
        ({**FILE, "path": "."}, 3, "L.table.files.exist"),
        ({**FILE, "column_indices": [1]}, 3, "L.file.schema.num-columns"),
    ],
)
def test_the_manifest_and_its_files_agree(file, rows, clause, tmp_path):
    """Rows, size, version, place: also where only null columns are asked for."""
    manifest, reader = _reader(tmp_path, fragment(0, file, physical_rows=rows))
    with pytest.raises(BytesError) as caught:
        reader.column(manifest.schema.fields[0])
    assert clause == caught.value.clause
    if clause != "L.file.schema.num-columns":
        with pytest.raises(BytesError):
            reader.column(manifest.schema.fields[1])


def test_a_file_is_of_the_version_the_manifest_says(tmp_path):
    """A 2.0 file listed as 2.1."""
    file = {**FILE, "file_minor_version": 1}
    form = {"file_format": "lance", "version": "2.1"}
    manifest, reader = _reader(tmp_path, fragment(0, file, physical_rows=3), data_format=form)
    with pytest.raises(FormatError) as caught:
        reader.column(manifest.schema.fields[0])

    assert "L.table.datafile.version" == caught.value.clause


def test_the_size_of_a_0_1_file_may_be_wrong(tmp_path):
    """D.legacy.file-size: old releases wrote what the file had before its metadata."""
    made = write_dataset(pa.table({"a": [1, 2, 3]}), tmp_path, data_storage_version="legacy")
    (file,) = made.get_fragments()[0].data_files()
    old = data_file(file_major_version=0, file_minor_version=2, path=file.path, fields=[0])
    given = {
        "fields": [{**FIELDS[0], "logical_type": "int64"}],
        "data_format": {**FORM, "version": "0.1"},
    }
    manifest, reader = _reader(
        tmp_path, fragment(0, {**old, "file_size_bytes": 7}, physical_rows=3), **given
    )

    assert [1, 2, 3] == _values(manifest, reader)


def test_rows_in_no_file_have_a_limit(tmp_path):
    """Nothing but the manifest says how many there are."""
    none = {"id": 0, "physical_rows": 2**31 + 1}
    manifest, reader = _reader(tmp_path, none)
    with pytest.raises(LimitExceeded) as caught:
        reader.column(manifest.schema.fields[0])

    assert "L.table.limits.no-file" == caught.value.clause
    few = {"id": 0, "physical_rows": 5}
    assert [None] * 5 == _values(*_reader(tmp_path, few))


def test_many_rows_are_held_against_a_file(tmp_path):
    """What few rows may size is not."""
    gone = {**FILE, "path": "none.lance"}
    assert 3 == _reader(tmp_path, fragment(0, gone, physical_rows=3))[1].bounded_rows
    with pytest.raises(LanceError):
        _ = _reader(tmp_path, fragment(0, gone, physical_rows=2**31))[1].bounded_rows


def test_hidden_columns_are_found_by_their_id(tmp_path):
    """A file lists -3; the others do not have it."""
    file = {**FILE, "fields": [-3]}
    _, reader = _reader(tmp_path, fragment(0, file, physical_rows=3))

    assert reader.hidden(-4) is None
    assert 3 == reader.hidden(-3).num_rows

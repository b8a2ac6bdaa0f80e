"""New columns of a table."""

import importlib
import shutil

import pyarrow as pa
import pylanceref
import pytest
from lanceref.file.arrow_schema import schema_of
from lanceref.file.schema import LanceSchema
from lanceref.operations.columns import (
    all_rows,
    fill_deleted,
    next_field_id,
    numbered_fields,
    write_columns,
)
from lanceref.search.projection import scan_projection
from lanceref.storage.protocol import Draft
from lanceref.table.logical import BlobHandling
from pylanceref.file import LanceFileReader

from tests.operations.tables import table


def test_deleted_rows_are_read_too(tmp_path):
    """All five rows of fragment 0; values of live rows are spread over them."""
    snapshot = table(tmp_path)._snapshot
    projection = scan_projection(snapshot.schema(BlobHandling.BYTES), ["a"])
    first = snapshot.fragments[0]

    assert [0, 1, 2, 3, 4] == [
        value for batch in all_rows(first, projection) for value in batch["a"].to_pylist()
    ]
    assert [7, 7, 8, 9, 10] == fill_deleted(first, pa.array([7, 8, 9, 10])).to_pylist()
    assert [None] * 5 == fill_deleted(first, pa.array([], pa.int8())).to_pylist()


@pytest.mark.parametrize("maker", [pytest.param("lance", marks=pytest.mark.oracle), "pylanceref"])
def test_columns_are_added_where_files_are_gone(tmp_path, maker):
    """To a clone whose base has lost its files: where no row is deleted they are not needed."""
    maker, base, clone = importlib.import_module(maker), tmp_path / "base", str(tmp_path / "clone")
    maker.write_dataset(pa.table({"a": range(3)}), str(base)).shallow_clone(clone, 1)
    shutil.rmtree(base / "data")
    new = pa.table({"n": [4, 5, 6]})
    maker.dataset(clone).add_columns(new.to_reader())

    fragment = pylanceref.dataset(clone).get_fragment(0)
    file = fragment.data_files()[-1].path
    assert 3 == fragment.physical_rows
    assert new.equals(LanceFileReader(f"{clone}/data/{file}").read_all().to_table())


def test_ids_are_never_used_twice(tmp_path):
    """Fields 0 to 4 are there; 1 was dropped, and its file is still listed."""
    made = table(tmp_path)
    assert 5 == next_field_id(made._snapshot)
    made.drop_columns(["s"])
    assert 5 == next_field_id(made._snapshot)
    drafts = schema_of(pa.schema({"p": pa.struct({"q": pa.int8()}), "r": pa.int8()})).fields
    assert [5, 6, 7] == [one.id for top in numbered_fields(drafts, 5) for one in top.flat()]


def _schema():
    return LanceSchema(numbered_fields(schema_of(pa.schema({"n": pa.int64()})).fields, 5))


def test_a_file_is_added_to_each_fragment(tmp_path):
    """Of as many rows as the fragment has."""
    snapshot = table(tmp_path)._snapshot
    new = [pa.record_batch({"n": range(5)})]
    made = write_columns(snapshot, _schema(), lambda _: iter(new), Draft())

    assert [[[0, 1, 3, 4], [5]]] * 2 == [[list(f.fields) for f in one.files] for one in made]


def test_a_failure_leaves_no_file(tmp_path):
    """The second fragment fails: the file of the first goes too."""
    snapshot = table(tmp_path)._snapshot
    before = sorted(one.name for one in (tmp_path / "data").iterdir())

    def rows_of(rows):
        if rows.fragment.id:
            raise OSError("broken")
        yield pa.record_batch({"n": range(5)})

    with pytest.raises(OSError, match="broken"), Draft() as draft:
        write_columns(snapshot, _schema(), rows_of, draft)
    assert before == sorted(one.name for one in (tmp_path / "data").iterdir())


@pytest.mark.oracle
@pytest.mark.parametrize("maker", ["lance", "pylanceref"])
def test_a_fragment_without_files_has_rows_of_nulls(tmp_path, maker):
    """D.fragment.no-files: either drops the only column with a file; the oracle reads no more."""
    import lance

    made = importlib.import_module(maker).write_dataset(pa.table({"k": range(3)}), tmp_path)
    made.add_columns(pa.schema({"n": pa.int32()}))
    made.drop_columns(["k"])

    assert pa.table({"n": pa.nulls(3, pa.int32())}) == pylanceref.dataset(tmp_path).to_table()
    with pytest.raises(pa.ArrowInvalid, match="does not contain any data"):
        lance.dataset(tmp_path).to_table()

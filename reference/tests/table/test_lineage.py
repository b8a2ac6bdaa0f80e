"""Row lineage."""

import numpy as np
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, FormatError
from lanceref.storage import LocalStore
from lanceref.table.bases import Bases
from lanceref.table.columns import FragmentReader
from lanceref.table.lineage import CREATED_AT, LAST_UPDATED_AT, ROW_ID, STORED, open_lineage

from ..file.files import WORKED_FILE
from .manifests import data_file, fragment, minimal, parse

CTX = Context("m.manifest")
FORM = {"file_format": "lance", "version": "2.0"}
SPILLED = {"reader_feature_flags": 2050, "writer_feature_flags": 2050}


def _columns(tmp_path, one, form=FORM):
    (tmp_path / "data").mkdir(exist_ok=True)
    (tmp_path / "data" / "worked.lance").write_bytes(WORKED_FILE)
    ids = {} if "column_row_ids" in one else {"inline_row_ids": b"\x0a\x04\x0a\x02\x10\x03"}
    manifest = parse(minimal(fragments=[{**ids, **one}], data_format=form, **SPILLED))
    bases = Bases(LocalStore(tmp_path), manifest)
    return FragmentReader(manifest.fragments[0], bases, CTX)


def test_inline_sequences(tmp_path):
    """Three rows: ids 0 to 2, made by 1, 1 and 2; never changed."""
    versions = bytes.fromhex("0a080a040a02100210010a0a0a060a04080210031002")
    one = fragment(0, physical_rows=3, files=[], inline_created_at_versions=versions)
    columns = _columns(tmp_path, {**one, "files": []})
    offsets = np.arange(3)

    assert [0, 1, 2] == open_lineage(ROW_ID, columns, CTX).at(offsets).tolist()
    assert [1, 1, 2] == open_lineage(CREATED_AT, columns, CTX).at(offsets).tolist()
    assert open_lineage(LAST_UPDATED_AT, columns, CTX) is None


@pytest.mark.parametrize("name", STORED)
def test_a_column_that_is_nowhere_is_refused(name, tmp_path):
    """The fragment says a file holds it; none does."""
    one = {**fragment(0, physical_rows=3), "files": [], STORED[name][1]: {}}
    with pytest.raises(CorruptPage) as caught:
        open_lineage(name, _columns(tmp_path, one), CTX)

    assert "L.table.row-ids.column" == caught.value.clause


def test_a_null_in_a_hidden_column_is_refused(tmp_path):
    """The worked file holds 1, null, 3, and ids are no int32 either."""
    file = data_file(path="worked.lance", file_minor_version=0, fields=[-3])
    one = fragment(0, file, physical_rows=3, column_row_ids={})
    with pytest.raises(FormatError) as caught:
        open_lineage(ROW_ID, _columns(tmp_path, one), CTX).at(np.arange(3))

    assert caught.value.clause.startswith("L.")


@pytest.mark.oracle
@pytest.mark.parametrize("minor", [0, 1, 2])
def test_nulls_the_oracle_would_not_write(minor, tmp_path):
    """A hidden column of uint64 with a null: values are read, the null is refused."""
    import pyarrow as pa
    from lance.file import LanceFileWriter

    (tmp_path / "data").mkdir()
    table = pa.table({"_rowid": pa.array([9, None, 7], pa.uint64())})
    with LanceFileWriter(
        str(tmp_path / "data" / "ids.lance"), table.schema, version=f"2.{minor}"
    ) as writer:
        writer.write_batch(table)
    file = data_file(path="ids.lance", file_minor_version=minor, fields=[-3])
    one = fragment(0, file, physical_rows=3, column_row_ids={})
    form = {"file_format": "lance", "version": f"2.{minor}"}
    ids = open_lineage(ROW_ID, _columns(tmp_path, one, form), CTX)

    assert [9, 7] == ids.at(np.array([0, 2])).tolist()
    with pytest.raises(CorruptPage) as caught:
        ids.at(np.array([1]))
    assert "L.table.row-ids.column" == caught.value.clause

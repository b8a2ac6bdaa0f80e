"""Append and Overwrite."""

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.file_versions import V2_1
from lanceref.file.arrow_schema import schema_of

from tests.table import manifests
from tests.transactions import versions

ROWS = pa.table({"k": [1, 2]})


def test_an_append_gives_ids():
    """Fragments without an id get the next ones."""
    new = [manifests.fragment(0, versions.files(0)), manifests.fragment(0, versions.files(1))]

    assert [0, 1, 2, 3] == versions.ids(versions.after(versions.table(), append={"fragments": new}))


def test_an_overwrite_replaces_rows_schema_and_indices():
    """Config stays and is added to; fragment ids go on."""
    before = versions.indexed(
        versions.table(config={"k": "1"}, writer_feature_flags=8), versions.index("i", 0, [0])
    )
    schema = schema_of(pa.schema({"z": pa.int8()}))
    new = manifests.fragment(0, versions.files(0))
    new["files"][0]["file_minor_version"] = 1
    made = versions.after(
        before,
        staged={"schema": schema, "storage_version": V2_1},
        overwrite={"fragments": [new], "config_upsert_values": {"l": "2"}},
    )

    assert [2] == versions.ids(made)
    assert ("2.1", schema, ()) == (made.storage_version, made.schema, made.indices)
    assert {"k": "1", "l": "2"} == dict(made.message.config)


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["0.1", "2.0"])
def test_an_append_over_a_new_column(tmp_path, version):
    """Files of 0.1 lack it, which none may; those of 2.0 may."""
    import lance

    said = []
    for library in (lance, pylanceref):
        path = str(tmp_path / library.__name__)
        read = library.write_dataset(ROWS, path, data_storage_version=version)
        library.dataset(path).add_columns({"n": "k + 1"})
        try:
            library.write_dataset(ROWS, read, mode="append")
        except OSError:
            said.append("refused")
        else:
            said.append(library.dataset(path).to_table()["n"].to_pylist())
    assert [["refused"] * 2, [[2, 3, None, None]] * 2][version == "2.0"] == said

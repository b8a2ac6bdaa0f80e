"""Tests of derived requirements: files and tables that were just written, whose words are known."""

from __future__ import annotations

import lanceref
import pyarrow as pa
import pylanceref
import pytest
from lance_conformance.derived_requirements import derive

ROWS = pa.table({"a": pa.array([1, None, 3], pa.int32()), "s": pa.array(["x", "y", "z"])})


@pytest.mark.parametrize(
    ("version", "encodings"),
    [
        ("2.0", ["binary", "flat", "nullable", "some_nulls"]),
        ("2.1", ["flat", "mini_block", "variable"]),
    ],
)
def test_a_file_names_its_version_types_and_encodings(tmp_path, version, encodings):
    """The words are those of the footer, the schema and the messages of the pages."""
    lanceref.write_file(tmp_path / "data.lance", ROWS, version)

    assert {
        "file_version": version,
        "types": ["int32", "string"],
        "encodings": encodings,
    } == derive(tmp_path, {"path": "data.lance"})


def test_a_table_names_the_features_of_the_version_that_is_read(tmp_path):
    """Deleted rows and stable row ids show from the version on that has them."""
    table = pylanceref.write_dataset(
        ROWS, tmp_path / "t", data_storage_version="2.1", enable_stable_row_ids=True
    )
    table.delete("a = 1")
    first = derive(tmp_path, {"uri": "t", "args": {"version": "1"}})
    latest = derive(tmp_path, {"uri": "t", "args": {"with": ["_rowid"]}})

    assert (["stable-row-ids", "version"], "2") == (first["features"], first["reader_flags"])
    assert ["deletion-files", "row-id", "stable-row-ids"] == latest["features"]
    assert ("3", "2.1") == (latest["reader_flags"], latest["file_version"])


def test_a_table_that_is_yet_to_be_created_has_the_version_asked_for(tmp_path):
    """Nothing else is known of it."""
    (tmp_path / "t").mkdir()
    step = {"op": "write.dataset", "args": {"mode": "create", "version": "2.0"}}

    assert {"file_version": "2.0"} == derive(tmp_path, {"uri": "t", "steps": [step]})


def test_what_is_written_asks_for_its_types(tmp_path):
    """A writer that lacks a type is not asked to write it."""
    (tmp_path / "t").mkdir()
    with pa.ipc.new_file(tmp_path / "input.arrow", ROWS.schema) as writer:
        writer.write_table(ROWS)
    step = {
        "op": "write.dataset",
        "args": {"mode": "create", "version": "2.1", "input": "input.arrow"},
    }

    assert ["int32", "string"] == derive(tmp_path, {"uri": "t", "steps": [step]})["types"]

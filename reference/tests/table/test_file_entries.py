"""Entries of data files: which column holds which field."""

from __future__ import annotations

import pytest
from lanceref.core.context import Context
from lanceref.core.errors import BytesError, FormatError
from lanceref.proto import table_pb2
from lanceref.table.file_entries import check_base, data_files_of, parse_entry

CTX = Context("manifest")


def entry(**fields):
    """Return the entry of a file of 2.1 with fields 0 and 1."""
    usual = {"path": "x", "fields": [0, 1], "column_indices": [0, 1]}
    words = {"file_major_version": 2, "file_minor_version": 1}
    return table_pb2.DataFile(**{**usual, **words, **fields})


def test_columns_are_found_by_field_id():
    """A tombstone has none."""
    found = parse_entry(entry(fields=[7, -2], column_indices=[3, 4]), {}, CTX, CTX.at(0))

    assert {7: 3} == found.columns
    assert (None, 0, "x") == (found.base_id, found.size_bytes, found.path)


@pytest.mark.parametrize(
    ("fields", "clause"),
    [
        ({"file_minor_version": 9}, "L.table.datafile.version"),
        ({"path": "../x"}, "L.table.datafile.path"),
        ({"fields": [-7, 1]}, "L.table.datafile.field-id"),
        ({"fields": [1, 1]}, "L.table.datafile.once"),
        ({"column_indices": [0]}, "L.table.datafile.indices"),
        ({"column_indices": [4, 4]}, "L.table.datafile.indices"),
    ],
)
def test_what_does_not_fit_is_refused(fields, clause):
    """By its clause."""
    with pytest.raises(BytesError) as caught:
        parse_entry(entry(**fields), {}, CTX, CTX.at(0))

    assert clause == caught.value.clause


def test_bases_are_those_of_the_table():
    """Another is refused."""
    check_base(3, {3}, CTX, CTX.at(0))
    with pytest.raises(FormatError) as caught:
        check_base(4, {3}, CTX, CTX.at(0))

    assert "L.table.base.resolves" == caught.value.clause


def test_files_of_overlays_are_files_of_the_fragment():
    """They come last."""
    fragment = table_pb2.DataFragment(files=[entry()])
    fragment.overlays.add().data_file.path = "o"

    assert ["x", "o"] == [one.path for one in data_files_of(fragment)]

"""What a transaction touches."""

import pytest
from lanceref.errors import FormatError
from lanceref.proto import transaction_pb2 as pb
from lanceref.txn.touched import (
    bitmaps_of,
    config_keys,
    field_columns,
    fragments_of,
    removed_fragments,
)
from pyroaring import BitMap

from tests.table import manifests
from tests.txn import versions

ONE = [manifests.fragment(3, versions.files(0))]


@pytest.mark.parametrize(
    ("operation", "touched", "removed"),
    [
        ({"delete": {"updated_fragments": ONE, "deleted_fragment_ids": [5]}}, [3, 5], [5]),
        ({"update": {"updated_fragments": ONE, "removed_fragment_ids": [4]}}, [3, 4], [4]),
        ({"rewrite": {"groups": [{"old_fragments": ONE}]}}, [3], []),
        ({"data_replacement": {"replacements": [{"fragment_id": 8}]}}, [8], []),
        ({"append": {"fragments": ONE}}, [], []),
    ],
)
def test_fragments_are_those_that_were_there(operation, touched, removed):
    """New fragments have no id yet."""
    given = versions.transaction(**operation)

    assert (BitMap(touched), BitMap(removed)) == (fragments_of(given), removed_fragments(given))


def test_columns_are_pairs_of_fragment_and_field():
    """Of a DataReplacement and of an Update in columns mode."""
    replaced = [{"fragment_id": 1, "new_file": versions.files(0, 2)}]
    updated = {"updated_fragments": ONE, "fields_modified": [1]}

    assert {(1, 0), (1, 2)} == field_columns(
        versions.transaction(data_replacement={"replacements": replaced})
    )
    assert {(3, 1)} == field_columns(versions.transaction(update=updated))


def test_keys_are_apart_by_map_and_field():
    """Old forms of the message count too."""
    edit = {"update_entries": [{"key": "k"}]}
    given = pb.Transaction.UpdateConfig(
        config_updates=edit,
        schema_metadata_updates=edit,
        field_metadata_updates={4: edit},
        upsert_values={"u": "1"},
        delete_keys=["d"],
        field_metadata={2: {"metadata": {"m": "1"}}},
    )

    assert {
        ("config", None, "k"),
        ("config", None, "u"),
        ("config", None, "d"),
        ("schema", None, "k"),
        ("field", 4, "k"),
        ("field", 2, "m"),
    } == config_keys(given)


def test_a_bitmap_of_an_index_is_checked():
    """Absent: nobody knows; broken: FormatError."""
    made = pb.Transaction.CreateIndex(new_indices=[versions.index("x", 0, [2]), {"name": "y"}])

    assert [BitMap([2]), None] == bitmaps_of(made)
    made.new_indices[0].fragment_bitmap = b"broken"
    with pytest.raises(FormatError):
        bitmaps_of(made)

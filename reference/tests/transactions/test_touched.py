"""What a transaction touches."""

import pytest
from lanceref.core.errors import FormatError
from lanceref.proto import transaction_pb2 as pb
from lanceref.transactions.conflict import (
    field_columns,
    fragments_of,
    removed_fragments,
    settings_meet,
)
from lanceref.transactions.index_entries import covered
from pyroaring import BitMap

from tests.table import manifests
from tests.transactions import versions

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


BOTH = [
    ({"config_updates": [("k", "1")]}, {"config_updates": [("k", "2")]}, True),
    ({"config_updates": [("k", "1")]}, {"config_updates": [("k", None)]}, True),
    ({"config_updates": [("k", None)]}, {"config_updates": [("k", None)]}, False),
    ({"config_updates": [("k", "1")]}, {"config_updates": [("m", "1")]}, False),
    ({"config_updates": [("k", "1")]}, {"upsert_values": {"k": "2"}}, True),
    ({"delete_keys": ["k"]}, {"config_updates": [("k", "1")]}, True),
    ({"table_metadata_updates": [("k", "1")]}, {"table_metadata_updates": [("k", None)]}, True),
    ({"table_metadata_updates": [("k", None)]}, {"table_metadata_updates": [("k", None)]}, True),
    ({"table_metadata_updates": [("k", "1")]}, {"table_metadata_updates": [("m", "1")]}, False),
    ({"table_metadata_updates": "all"}, {"table_metadata_updates": [("m", "1")]}, True),
    ({"table_metadata_updates": "all"}, {"config_updates": [("m", "1")]}, False),
    ({"schema_metadata_updates": [("k", "1")]}, {"schema_metadata_updates": [("m", "1")]}, True),
    ({"schema_metadata_updates": []}, {"schema_metadata": {"m": "1"}}, True),
    ({"schema_metadata": {"m": "1"}}, {"config_updates": [("m", "1")]}, False),
    ({"field_metadata": {1: "k"}}, {"field_metadata_updates": {1: "m"}}, True),
    ({"field_metadata_updates": {1: "k"}}, {"field_metadata_updates": {2: "k"}}, False),
    ({}, {}, False),
]
"""Two updates, and whether only one of them may stand."""


@pytest.mark.parametrize(("ours", "theirs", "meet"), BOTH)
def test_settings_meet(ours, theirs, meet):
    """By the key of the configuration and of the table; the schema and a field as a whole."""
    first, second = _update(ours), _update(theirs)

    assert meet is settings_meet(first, second)
    assert meet is settings_meet(second, first)


def _update(given):
    """Return an update of settings: maps by their entries, "all" replaces one by nothing."""
    made = pb.Transaction.UpdateConfig()
    for name, value in given.items():
        if name == "delete_keys":
            made.delete_keys.extend(value)
        elif name in ("upsert_values", "schema_metadata"):
            getattr(made, name).update(value)
        elif name == "field_metadata":
            for number, key in value.items():
                made.field_metadata[number].metadata[key] = "1"
        elif name == "field_metadata_updates":
            for number, key in value.items():
                made.field_metadata_updates[number].update_entries.add(key=key, value="1")
        else:
            getattr(made, name).replace = value == "all"
            for key, text in () if value == "all" else value:
                getattr(made, name).update_entries.add(key=key, value=text)
    return made


def test_a_bitmap_of_an_index_is_checked():
    """Absent: nobody knows; broken: FormatError."""
    made = pb.Transaction.CreateIndex(new_indices=[versions.index("x", 0, [2]), {"name": "y"}])

    assert [BitMap([2]), None] == [covered(one) for one in made.new_indices]
    made.new_indices[0].fragment_bitmap = b"broken"
    with pytest.raises(FormatError):
        [covered(one) for one in made.new_indices]

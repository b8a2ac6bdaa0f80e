"""The search for unknown fields finds one wherever it hides, and none in the cases."""

import json
import os
from pathlib import Path

import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from lance_conformance.suite.case_storage import case_folder
from lanceref.proto import file2_pb2, table_pb2, transaction_pb2

from .collect import examine_below
from .known import NOT_WRITTEN, Seen, examine, field_names

UNKNOWN = bytes.fromhex("f83f05")  # field 1023, a varint 5


def _column_encoding(any_value: bytes, any_tail: bytes = b"") -> file2_pb2.ColumnMetadata:
    packed = AnyMessage(type_url="/lance.encodings.ColumnEncoding", value=any_value)
    column = file2_pb2.ColumnMetadata()
    column.encoding.direct.encoding = packed.SerializeToString() + any_tail
    return column


def _in_map() -> transaction_pb2.Transaction:
    update = transaction_pb2.Transaction.UpdateMap.FromString(UNKNOWN)
    transaction = transaction_pb2.Transaction()
    transaction.update_config.field_metadata_updates[3].CopyFrom(update)
    return transaction


HIDDEN = {
    "at the top": table_pb2.Manifest.FromString(UNKNOWN),
    "in a repeated message": table_pb2.Manifest(
        fragments=[table_pb2.DataFragment(), table_pb2.DataFragment.FromString(UNKNOWN)]
    ),
    "in the value of a map": _in_map(),
    "in an Any": _column_encoding(UNKNOWN),
    "beside the value of an Any": _column_encoding(b"", UNKNOWN),
    "in bytes": table_pb2.DataFragment(inline_row_ids=UNKNOWN),
}


@pytest.mark.parametrize("place", HIDDEN)
def test_an_unknown_field_is_found(place):
    """Exactly one fault, naming field 1023."""
    seen = Seen()
    examine(HIDDEN[place], "message", seen)

    assert ["field 1023"] == [fault.split(": ")[1].split(" of ")[0] for fault in seen.faults]


def test_an_unknown_enum_value_is_found():
    """A number that an enumeration does not list is a fault."""
    seen = Seen()
    examine(table_pb2.DeletionFile.FromString(bytes.fromhex("0809")), "deletion", seen)

    assert ["deletion: value 9 of lance.table.DeletionFile.file_type"] == seen.faults


CASES = Path(os.environ.get("LANCEREF_CASES", Path(__file__).parents[3] / "fixtures"))
"""The cases; or a folder of those that `lance-conformance generate` makes with a newer oracle."""

AREAS = ("file", "index", "table")
FORMER = "0."
"""Releases of which cases have fields that no later one writes, and that nobody has to know."""


@pytest.mark.parametrize("area", AREAS)
def test_what_the_oracle_wrote_for_cases_holds_no_unknown_field(area, record_property):
    """Each message decodes, and each field and enum value is known."""
    seen = Seen()
    for path in sorted((CASES / area).rglob("case.json")):
        made = json.loads(path.read_text(encoding="utf-8"))["provenance"]
        if made["made_by"] == "oracle" and not made["version"].startswith(FORMER):
            examine_below(case_folder(path.parent), seen)
    record_property("messages", seen.messages)

    assert seen.messages > 0
    assert [] == seen.faults
    assert [] == [field for field in NOT_WRITTEN if seen.shows(field)]


def test_fields_never_written_are_fields():
    """Each name in the list of what the oracle never fills belongs to exactly one field."""
    found = {
        name: [field for field in field_names() if field.endswith(f".{name}")]
        for name in NOT_WRITTEN
    }

    assert {} == {name: fields for name, fields in found.items() if len(fields) != 1}

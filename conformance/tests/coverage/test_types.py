"""Logical types are counted without the parameters that take any number."""

import pytest
from lance_conformance.coverage.types import AXES, message_facts
from lanceref.proto import file_pb2

REDUCED = {
    "int32": "int32",
    "timestamp:us:-": "timestamp:us",
    "timestamp:us:Europe/Berlin": "timestamp:us with a zone",
    "fixed_size_list:float:128": "fixed_size_list",
    "fixed_size_list:lance.bfloat16:4": "fixed_size_list of bfloat16",
    "fixed_size_list:struct:2": "fixed_size_list of structs",
    "decimal:128:10:2": "decimal:128",
    "dict:string:int16:false": "dict:int16",
    "dict:timestamp:us:UTC:uint8:false": "dict:uint8",
    "fixed_size_binary:7": "fixed_size_binary",
    "duration:ns": "duration:ns",
}


@pytest.mark.parametrize("logical", REDUCED)
def test_a_type_is_reduced_to_its_row(logical):
    """Widths, precisions and zones do not matter."""
    facts = list(message_facts(file_pb2.Field(logical_type=logical), "2.2"))

    assert [("type in 2.2", REDUCED[logical])] == facts
    assert REDUCED[logical] in AXES["type in 2.2"]

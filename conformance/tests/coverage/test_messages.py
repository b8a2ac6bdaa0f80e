"""Messages are found in the spans of a file, and their fields counted."""

from pathlib import Path

from lance_conformance.coverage.messages import (
    COVERED,
    declared_fields,
    field_facts,
    messages,
)
from lanceref.explain import explain
from lanceref.proto import encodings_v2_1_pb2, file_pb2, table_pb2

FIXTURES = Path(__file__).parents[3] / "fixtures"
GOOD = FIXTURES / "file/2.1/miniblock/int32/data.lance"


def test_the_messages_of_a_file_are_found():
    """The descriptor with its one field, the column and its page, down to the codec's arm."""
    found = list(messages(explain(GOOD).root, GOOD.read_bytes()))
    schemas = [one for one in found if isinstance(one, file_pb2.Schema)]
    layouts = [one for one in found if isinstance(one, encodings_v2_1_pb2.PageLayout)]

    assert 1 == len(schemas)
    assert ["int32"] == [field.logical_type for field in schemas[0].fields]
    assert ["mini_block_layout"] == [layout.WhichOneof("layout") for layout in layouts]
    assert any(isinstance(one, encodings_v2_1_pb2.CompressiveEncoding) for one in found)


def test_fields_that_are_stored_count():
    """What is set is a fact, and a number that is left out because it is 0 is none."""
    facts = set(field_facts(table_pb2.DeletionFile(id=3)))

    assert ("fields of table.proto", "DeletionFile.id") in facts
    assert ("fields of table.proto", "DeletionFile.read_version") not in facts


def test_the_first_value_of_an_enumeration_is_stored_by_leaving_it_out():
    """0 counts when the field is absent, and another value when it is there."""
    axis = "values of DeletionFile.DeletionFileType in table.proto"
    first = set(field_facts(table_pb2.DeletionFile()))
    second = set(field_facts(table_pb2.DeletionFile(file_type="BITMAP")))

    assert {"ARROW_ARRAY"} == {member for name, member in first if name == axis}
    assert {"BITMAP"} == {member for name, member in second if name == axis}


def test_repeated_values_count_each():
    """Two layers of a page are two facts."""
    page = encodings_v2_1_pb2.MiniBlockLayout(layers=[1, 3])
    members = [member for axis, member in field_facts(page) if axis.startswith("values of RepDef")]

    assert ["REPDEF_ALL_VALID_ITEM", "REPDEF_NULLABLE_ITEM"] == members


def test_every_field_is_declared_once():
    """Nested messages and their enumerations are declared, and entries of maps are not."""
    declared = list(declared_fields(COVERED))

    assert len(set(declared)) == len(declared)
    assert ("fields of rowids.proto", "U64Segment.RangeWithHoles.holes") in declared
    assert ("values of Field.Type in file.proto", "LEAF") in declared
    assert not any("MetadataEntry" in member for _, member in declared)

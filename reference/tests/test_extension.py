"""Extension types."""

import pyarrow as pa
import pytest
from lanceref.extension import storage_of


@pytest.mark.parametrize(
    ("type_", "storage", "name", "parameters"),
    [
        (pa.json_(), pa.string(), "arrow.json", ""),
        (pa.uuid(), pa.binary(16), "arrow.uuid", ""),
        (pa.bool8(), pa.int8(), "arrow.bool8", ""),
        (
            pa.opaque(pa.int32(), "t", "v"),
            pa.int32(),
            "arrow.opaque",
            '{"type_name":"t","vendor_name":"v"}',
        ),
    ],
)
def test_name_and_parameters_become_metadata(type_, storage, name, parameters):
    """The two keys of the C form stand beside the metadata the field has."""
    found = storage_of(pa.field("a", type_, metadata={"k": "v"}))

    assert found == (
        storage,
        {"k": "v", "ARROW:extension:name": name, "ARROW:extension:metadata": parameters},
    )


def test_a_plain_field_keeps_its_metadata():
    """No extension keys appear."""
    assert storage_of(pa.field("a", pa.int8(), metadata={"k": "v"})) == (pa.int8(), {"k": "v"})

"""Extension types."""

import pyarrow as pa
import pytest
from lanceref.extension import resolved, resolved_batch, storage_of


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


def test_known_extension_types_are_resolved_and_unknown_ones_kept() -> None:
    """A name that pyarrow knows becomes its type, any other stays metadata."""
    named = {"ARROW:extension:name": "arrow.uuid"}
    stored = pa.schema(
        [
            pa.field("u", pa.binary(16), metadata=named),
            pa.field("wrong", pa.int8(), metadata={"ARROW:extension:name": "no.such.type"}),
        ]
    )

    shown = resolved(stored)

    assert shown.field("u").type == pa.uuid()
    assert shown.field("wrong").equals(stored.field("wrong"), check_metadata=True)


def test_a_name_over_the_wrong_storage_stays_metadata() -> None:
    """What pyarrow cannot make an extension type of is shown as it is stored."""
    stored = pa.schema([pa.field("u", pa.int8(), metadata={"ARROW:extension:name": "arrow.uuid"})])

    assert resolved(stored).equals(stored, check_metadata=True)


def test_a_batch_is_resolved_without_a_copy() -> None:
    """The extension array of a resolved batch lies over the stored bytes."""
    field = pa.field("u", pa.binary(16), metadata={"ARROW:extension:name": "arrow.uuid"})
    batch = pa.record_batch([pa.array([b"0" * 16], pa.binary(16))], schema=pa.schema([field]))

    shown = resolved_batch(batch)

    assert shown.schema == resolved(batch.schema)
    assert shown.column(0).storage.buffers()[1].address == batch.column(0).buffers()[1].address

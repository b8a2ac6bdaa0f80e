"""Manifest files, written."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from lanceref.proto import table_pb2, transaction_pb2
from lanceref.table.manifest import encode_manifest, stamp

from . import manifests

TRANSACTION = transaction_pb2.Transaction(read_version=1, uuid="u", append={})


def test_the_worked_manifest_is_written_back_byte_for_byte():
    """Transaction section at 0, manifest after it, footer with its position."""
    parsed = manifests.parse(manifests.WORKED)
    message = table_pb2.Manifest()
    message.CopyFrom(parsed.message)
    message.transaction_section = 99

    assert manifests.WORKED == encode_manifest(message, parsed.transaction, (), {})


def test_indices_come_first():
    """Three sections: the index section at 0, the transaction after it."""
    index = table_pb2.IndexMetadata(uuid={"uuid": bytes(range(16))}, fields=[0], name="i")

    data = encode_manifest(manifests.minimal(), TRANSACTION, [index], {})
    parsed = manifests.parse(data)

    assert (index,) == parsed.indices
    assert (0, 4 + data[0]) == (
        parsed.message.index_section,
        parsed.message.transaction_section,
    )


def test_sections_of_the_version_before_are_forgotten():
    """A copied message loses its index section and the old place of its transaction."""
    message = manifests.minimal(index_section=7, transaction_section_deprecated=9)

    parsed = manifests.parse(encode_manifest(message, TRANSACTION, (), {}))

    assert not parsed.message.HasField("index_section")
    assert not parsed.message.HasField("transaction_section_deprecated")
    assert TRANSACTION == parsed.transaction


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5))
def test_dictionaries_come_back(values):
    """The values of a 0.1 dictionary lie at the head, and the field says where."""
    fields = [{"name": "d", "id": 3, "parent_id": -1, "logical_type": "dict:string:int32:false"}]
    message = manifests.minimal(
        fields=fields, data_format={"file_format": "lance", "version": "0.1"}
    )

    parsed = manifests.parse(encode_manifest(message, TRANSACTION, (), {3: pa.array(values)}))

    assert {3: values} == {key: array.to_pylist() for key, array in parsed.dictionaries.items()}


@given(st.integers(0, 2**62))
def test_a_stamp_is_seconds_and_nanoseconds(nanoseconds):
    """Together they are the time again."""
    message = table_pb2.Manifest()
    stamp(message, nanoseconds)

    assert nanoseconds == message.timestamp.seconds * 10**9 + message.timestamp.nanos
    assert 0 <= message.timestamp.nanos < 10**9

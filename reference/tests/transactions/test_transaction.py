"""Transaction files."""

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import BadProto
from lanceref.core.spans import SpanRecorder, uncovered
from lanceref.file.arrow_schema import schema_of
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import BytesSource, LocalStore
from lanceref.storage.protocol import Draft
from lanceref.transactions.transaction import (
    check_transaction,
    new_append,
    new_overwrite,
    open_transaction,
    write_transaction,
)

UUID = "cf0fa767-57e9-4f7f-a13f-ec54d69f641d"
NAME = f"1-{UUID}.txn"
DELETE = Transaction(
    read_version=1,
    uuid=UUID,
    delete={
        "updated_fragments": [
            {
                "files": [{"path": "f.lance", "fields": [0], "column_indices": [0]}],
                "deletion_file": {"read_version": 1, "id": 8659902538907322467},
                "physical_rows": 10,
            }
        ],
        "predicate": "a=3 or a=5",
    },
)
DATA = DELETE.SerializeToString()


def test_a_transaction_is_a_bare_message():
    """0801 1224... as in the chapter: read version, uuid, then the operation as field 101."""
    assert bytes.fromhex("08011224") == DATA[:4]
    assert bytes.fromhex("aa06") == DATA[40:42]
    read = open_transaction(BytesSource(DATA, NAME), Context(NAME))

    assert (1, UUID, "delete") == (read.read_version, read.uuid, read.WhichOneof("operation"))
    assert DELETE == read


def test_an_operation_nobody_knows_is_no_error():
    """A reader of the table needs none of it."""
    data = DELETE.SerializeToString()[:40] + bytes.fromhex("a20700")  # field 116, empty

    assert open_transaction(BytesSource(data), Context(NAME)).WhichOneof("operation") is None


def test_cut_bytes_are_refused():
    """Without length or checksum only the message itself can tell."""
    with pytest.raises(BadProto) as caught:
        open_transaction(BytesSource(DATA[:-1]), Context(NAME))

    assert ("L.txn.file.message", 0, NAME) == (
        caught.value.clause,
        caught.value.offset,
        caught.value.file,
    )


@pytest.mark.parametrize(("name", "clauses"), [(NAME, []), (f"2-{UUID}.txn", ["L.txn.file.name"])])
def test_the_name_repeats_version_and_uuid(name, clauses):
    """A validator holds one against the other; every byte has an owner."""
    findings, spans = [], SpanRecorder()
    ctx = Context(name, spans=spans, findings=findings)
    check_transaction(BytesSource(DATA, f"t/_transactions/{name}"), ctx)

    assert clauses == [finding.clause for finding in findings]
    assert [] == uncovered(spans.finish(len(DATA)))


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_damage_never_escapes(mask):
    """Every byte flipped: a message or BadProto, read and checked."""
    for at in range(len(DATA)):
        data = bytearray(DATA)
        data[at] ^= mask
        source = BytesSource(bytes(data), NAME)
        try:
            open_transaction(source, Context(NAME))
        except BadProto as error:
            assert "L.txn.file.message" == error.clause and error.found and error.wanted
        check_transaction(source, Context(NAME, spans=SpanRecorder(), findings=[]))


def test_a_transaction_is_written_under_its_name(tmp_path):
    """The bytes of the file are those of the message."""
    name = write_transaction(LocalStore(tmp_path), DELETE, Draft())

    assert NAME == name
    assert DATA == (tmp_path / "_transactions" / name).read_bytes()


def test_an_append_lists_fragments_without_ids():
    """Even one without fragments is an Append; properties go along."""
    message = new_append(3, [], {"k": "v"})

    assert "append" == message.WhichOneof("operation")
    assert (3, {"k": "v"}) == (message.read_version, dict(message.transaction_properties))
    assert message.uuid != new_append(3, []).uuid


def test_an_overwrite_lists_the_schema():
    """Fields in depth-first order, as in the manifest; no metadata."""
    schema = schema_of(pa.schema({"s": pa.struct({"x": pa.int64()})}, metadata={"k": "v"}))
    message = new_overwrite(0, [], schema)

    assert [("s", 0, -1), ("x", 1, 0)] == [
        (field.name, field.id, field.parent_id) for field in message.overwrite.schema
    ]
    assert not message.overwrite.schema_metadata

"""Transactions read."""

import pytest
from lanceref.core.errors import FormatError
from lanceref.proto.transaction_pb2 import Transaction
from pylanceref.transactions import from_message


@pytest.mark.parametrize("operation", [{}, {"update_mem_wal_state": {}}])
def test_an_operation_without_a_class_is_named(operation):
    """Not a guess at another one."""
    with pytest.raises(NotImplementedError, match="has no form"):
        from_message(Transaction(**operation))


@pytest.mark.parametrize(
    "operation",
    [
        {"create_index": {"new_indices": [{"name": "x", "uuid": {"uuid": b"short"}}]}},
        {"create_index": {"new_indices": [{"uuid": {"uuid": bytes(16)}, "fragment_bitmap": b"x"}]}},
        {"delete": {"updated_fragments": [{"deletion_file": {"file_type": 7}}]}},
        {"update": {"update_mode": 9}},
        {"project": {"schema": [{"name": "a", "id": 3, "parent_id": 8}]}},
    ],
)
def test_what_makes_no_sense_is_a_format_error(operation):
    """Uuids, bitmaps, types and modes of the bytes; nothing else escapes."""
    with pytest.raises(FormatError):
        from_message(Transaction(**operation))


@pytest.mark.oracle
def test_what_the_oracle_did_is_read(tmp_path):
    """A delete, a settings update and a projection, seen by both."""
    import lance
    import pyarrow as pa
    import pylanceref

    made = lance.write_dataset(pa.table({"a": range(9), "b": range(9)}), tmp_path)
    made.delete("a = 3")
    made.update_config({"k": "1"})
    made.drop_columns(["b"])
    names = []
    for version in range(1, 5):
        manifest = pylanceref.dataset(tmp_path, version)._snapshot.manifest
        ours, theirs = from_message(manifest.transaction), made.read_transaction(version)
        names.append(type(ours.operation).__name__)
        assert (theirs.read_version, theirs.uuid) == (ours.read_version, ours.uuid)
        assert type(theirs.operation).__name__ == names[-1]

    assert ["Overwrite", "Delete", "UpdateConfig", "Project"] == names

"""Operations, transactions and fragment metadata as values, messages and JSON."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import FormatError
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction as TransactionMessage
from pylanceref.metadata import DataFile, DeletionFile, FragmentMetadata
from pylanceref.operation import DatasetBasePath, Index, IndexFile, LanceOperation, Transaction
from pylanceref.operation import LanceOperation as Op
from pylanceref.schema import LanceSchema
from pylanceref.transactions import from_message, to_message
from pyroaring import BitMap
from tests.overlaid import overlay
from tests.overlaid import table as overlaid_table
from tests.table import manifests

PLAIN = table_pb2.DataFragment(**manifests.fragment(3))

FULL = table_pb2.DataFragment(
    **manifests.fragment(
        4,
        manifests.data_file(file_size_bytes=9, base_id=2),
        deletion_file={"file_type": 1, "read_version": 2, "id": 2**63, "num_deleted_rows": 4},
        inline_row_ids=b"\1",
        inline_created_at_versions=b"\2",
        inline_last_updated_at_versions=b"",
    )
)

SPILLED = table_pb2.DataFragment(
    **manifests.fragment(5, column_row_ids={}, column_created_at_versions={})
)


@pytest.mark.parametrize("message", [PLAIN, FULL, SPILLED])
def test_a_fragment_comes_back_as_a_message_and_from_json(message):
    """Nothing is lost on either way. Ten rows of which four are deleted count as six."""
    made = FragmentMetadata.from_message(message)

    assert message == made.to_message()
    assert made == FragmentMetadata.from_json(json.dumps(made.to_json()))
    if message is FULL:
        assert (10, 4, 6) == (made.physical_rows, made.num_deletions, made.num_rows)


@pytest.mark.oracle
def test_the_json_is_that_of_the_oracle(tmp_path):
    """Fragments with a deletion file, row ids and versions have the JSON of the oracle."""
    import lance

    table = pa.table({"a": range(40)})
    made = lance.write_dataset(table, tmp_path, max_rows_per_file=20, enable_stable_row_ids=True)
    made.delete("a = 3")

    theirs = [one.metadata.to_json() for one in made.get_fragments()]
    ours = [one.metadata.to_json() for one in pylanceref.dataset(tmp_path).get_fragments()]
    assert theirs == ours
    assert theirs == [FragmentMetadata.from_json(json.dumps(one)).to_json() for one in theirs]


ONE, TWO = FragmentMetadata.from_message(PLAIN), FragmentMetadata.from_message(FULL)
SCHEMA = LanceSchema.from_pyarrow(pa.schema({"a": pa.int64(), "s": pa.struct({"x": pa.utf8()})}))

SEGMENT = Index(
    uuid=str(uuid4()),
    name="i",
    fields=[0, 1],
    dataset_version=3,
    fragment_ids={1, 4},
    index_version=2,
    created_at=datetime(2026, 1, 2, 3, 4, 5, 678000, UTC),
    base_id=1,
    files=[IndexFile("index.idx", 12)],
    index_details=("/lance.index.X", b"\1"),
    covering_fields=[1],
)

OFFSETS = bytes(BitMap([1]).serialize())

OPERATIONS = [
    Op.Append([ONE]),
    Op.Overwrite(SCHEMA, [ONE], [DatasetBasePath("/x", "x", False, 4)]),
    Op.Delete([TWO], [3], "a > 1"),
    Op.Update([1], [TWO], [ONE], [2], [0, 1], "rewrite_columns", {4: OFFSETS}),
    Op.Merge([ONE, TWO], SCHEMA, True),
    Op.Project(SCHEMA, True),
    Op.Restore(7),
    Op.ReserveFragments(3),
    Op.Clone(True, None, 4, "/src", "dev"),
    Op.Rewrite(
        [Op.RewriteGroup([ONE], [TWO])],
        [Op.RewrittenIndex(str(uuid4()), str(uuid4()), "/t", b"\2", 1)],
    ),
    Op.CreateIndex([SEGMENT], []),
    Op.DataReplacement([Op.DataReplacementGroup(2, DataFile("f", [1], [0], 2, 1))]),
    Op.UpdateConfig(Op.UpdateMap({"a": None, "b": "1"}, True), None, None, {3: Op.UpdateMap({})}),
    Op.UpdateBases([DatasetBasePath("/y", None, True, 0)]),
]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: type(one).__name__)
def test_an_operation_comes_back_from_its_message(operation):
    """With its read version, uuid and properties."""
    given = Transaction(5, operation, transaction_properties={"k": "v"})

    assert given == from_message(to_message(given))


def test_something_else_is_no_operation():
    """TypeError; an unknown mode is a ValueError. One without a class is named, not guessed at."""
    with pytest.raises(TypeError):
        to_message(Transaction(1, Op.BaseOperation()))
    with pytest.raises(ValueError, match="update mode"):
        to_message(Transaction(1, Op.Update(update_mode="sideways")))
    for message in (TransactionMessage(), TransactionMessage(update_mem_wal_state={})):
        with pytest.raises(NotImplementedError, match="has no form"):
            from_message(message)


EMPTY = FragmentMetadata(0, [], 3)


@pytest.mark.parametrize(
    "make",
    [
        LanceOperation.Append,
        lambda given: LanceOperation.Delete(given, [], ""),
        lambda given: LanceOperation.Update(new_fragments=given),
        lambda given: LanceOperation.Merge(given, None),
    ],
)
def test_fragments_are_a_list_of_metadata(make):
    """Anything else is a TypeError at once."""
    assert isinstance(make([EMPTY]), LanceOperation.BaseOperation)
    for wrong in ((EMPTY,), [1], None):
        with pytest.raises(TypeError, match="fragments must be list"):
            make(wrong)


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
        from_message(TransactionMessage(**operation))


OVERLAY = DataFile("x.lance", [0, 1], [0, 1], 2, 1, 9)


@pytest.mark.parametrize(
    ("offsets", "error", "text"),
    [
        (3, ValueError, "must be an iterable of ints"),
        ([1, 1], ValueError, "1 appears more than once"),
        ([-1], ValueError, "unsigned 32-bit integer, got -1"),
        ([2**32], ValueError, "unsigned 32-bit"),
        ("ab", TypeError, "'str' object cannot be interpreted"),
        ([[1], 2], ValueError, "must be an iterable of ints"),
    ],
)
def test_what_is_no_offset_is_refused(offsets, error, text):
    """Offsets of an overlay that pylance refuses are refused with the same class."""
    with pytest.raises(error, match=text):
        Op.DataOverlayFile(OVERLAY, offsets).to_message()


def test_metadata_of_a_fragment_has_its_overlays(tmp_path):
    """Also as JSON, and what is made of that is the same message."""
    made = overlay(overlaid_table(tmp_path / "t"), [[1], [2]], {"a": [7], "s": ["x"]}, [0, 1])
    held = pylanceref.dataset(made.uri).get_fragments()[0].metadata
    again = FragmentMetadata.from_json(json.dumps(held.to_json()))

    assert [[[1], [2]]] == [one["offsets"] for one in held.to_json()["overlays"]]
    assert held.to_message() == again.to_message()
    assert 1 == len(again.to_message().overlays)


def test_a_deletion_file_knows_its_path():
    """Below the root, or as a URI."""
    file = DeletionFile(2, 7, "array", 4)

    assert "_deletions/3-2-7.arrow" == file.path(3)
    assert "s3://b/t/_deletions/3-2-7.arrow" == file.path(3, "s3://b/t")
    with pytest.raises(ValueError, match="Invalid file type"):
        DeletionFile(2, 7, "roaring", 4).path(3)

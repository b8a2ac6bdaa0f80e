"""Transactions as values and as messages."""

from datetime import UTC, datetime
from uuid import uuid4

import pyarrow as pa
import pytest
from pylanceref.metadata import DataFile, FragmentMetadata
from pylanceref.operation import DatasetBasePath, Index, IndexFile, LanceOperation, Transaction
from pylanceref.schema import LanceSchema
from pylanceref.transactions import base_messages, from_message, index_message, index_of, to_message
from pyroaring import BitMap

from tests.test_metadata import FULL, PLAIN

Op = LanceOperation
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
    """TypeError; an unknown mode is a ValueError."""
    with pytest.raises(TypeError):
        to_message(Transaction(1, Op.BaseOperation()))
    with pytest.raises(ValueError, match="update mode"):
        to_message(Transaction(1, Op.Update(update_mode="sideways")))


def test_a_segment_comes_back_from_its_entry():
    """The fragments as a set, the time to milliseconds."""
    assert SEGMENT == index_of(index_message(SEGMENT))


def test_bases_are_numbered_from_1_or_by_the_commit():
    """An id of its own stays, and the others are counted without it."""
    bases = [DatasetBasePath("/y", id=9), DatasetBasePath("/x"), DatasetBasePath("/z")]

    assert [9, 1, 2] == [one.id for one in base_messages(bases, 1)]
    assert [9, 0, 0] == [one.id for one in base_messages(bases, None)]

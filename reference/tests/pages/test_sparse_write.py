"""Sparse structure, written: sequences and layers."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.codecs.blocks import decode_block
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.file.arrow_schema import schema_of
from lanceref.pages.shred import shred
from lanceref.pages.sparse import encode_sequence, encode_structure
from lanceref.proto.encodings_v2_3_pb2 import SparseValiditySet


@pytest.mark.parametrize(
    ("values", "arm"),
    [
        ([], "constant"),
        ([5], "constant"),
        ([5, 5, 5], "constant"),
        ([1, 4, 7], "range"),
        ([1, 2, 9, 1000], "delta"),
        ([3, 1, 2, 2], None),
    ],
)
def test_a_sequence_takes_the_codec_of_its_shape(values, arm):
    """Constants and ranges have no buffer; whatever the codec, the values come back."""
    encoding, data = encode_sequence(np.array(values, np.int64))

    assert arm is None or encoding.WhichOneof("compression") == arm
    assert (data is None) == (arm in ("constant", "range"))
    if values:
        cursor = Cursor(memoryview(b"" if data is None else bytes(data)), 0, Context("f"))
        decoded = decode_block(encoding, cursor, len(values))
        assert decoded.data.view("<u8").tolist() == values


def _structure(rows, type_, dimensions):
    field = schema_of(pa.schema([("c", type_)])).fields[0]
    (leaf,) = shred(pa.array(rows, type_), field)
    return encode_structure(leaf, dimensions).layers


def test_validity_names_the_fewer_positions():
    """One null of three is named; of three with two nulls the valid one is."""
    for rows, meaning, number in (
        ([1, None, 3], SparseValiditySet.NULL_POSITIONS, 1),
        ([1, None, None], SparseValiditySet.VALID_POSITIONS, 1),
        ([1, 2], SparseValiditySet.NULL_POSITIONS, 0),
    ):
        (layer,) = _structure(rows, pa.int8(), ())
        assert (layer.validity.meaning, layer.validity.num_positions) == (meaning, number)


def test_a_list_names_what_is_not_empty():
    """[[1, 2], null, [], [3]]: lists 0 and 3 have 2 and 1 items, list 1 is null."""
    outer, leaf = _structure([[1, 2], None, [], [3]], pa.list_(pa.int8()), (None,))

    lists = outer.list
    assert (lists.num_child_slots, lists.num_non_empty_positions) == (3, 2)
    assert (lists.non_empty_positions.range.start, lists.non_empty_positions.range.step) == (0, 3)
    assert lists.validity.num_positions == 1
    assert leaf.HasField("validity")


def test_a_fixed_size_list_states_its_dimension():
    """Its own nulls are those of the lists, not of the items."""
    type_ = pa.list_(pa.struct([("a", pa.int8())]), 2)

    outer, inner, _ = _structure([[{"a": 1}, {"a": 2}], None], type_, (2, None))

    assert outer.fixed_size_list.dimension == 2
    assert outer.fixed_size_list.validity.num_positions == 1
    assert inner.HasField("validity")

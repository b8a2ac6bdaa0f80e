"""Tensors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.index.vector.storage import parse_tensor, tensor_of
from lanceref.proto.index_pb2 import Tensor

PLACE = Context("f").at(0, 0)


def test_by_hand():
    """Rows lie one after the other."""
    found = parse_tensor(Tensor(data_type=Tensor.UINT8, shape=[2, 3], data=b"abcdef"), PLACE)
    assert [[97, 98, 99], [100, 101, 102]] == found.tolist()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "u1"])
def test_what_is_written_is_read(dtype):
    """Of every type."""
    values = np.arange(12, dtype=dtype).reshape(3, 4)
    found = parse_tensor(tensor_of(values), PLACE)
    assert (values.tolist(), values.dtype) == (found.tolist(), found.dtype)


@given(
    st.integers(-1, 9),
    st.lists(st.integers(0, 2**32 - 1), max_size=4),
    st.binary(max_size=64),
)
def test_any_message_is_numbers_or_an_error(kind, shape, data):
    """The bytes must be as many as the sizes say; nothing is set aside before."""
    try:
        found = parse_tensor(Tensor(data_type=kind, shape=shape, data=data), PLACE)
    except FormatError as error:
        assert error.clause.startswith("L.index.vector.tensor.")
    else:
        assert list(found.shape) == shape
        assert found.nbytes == len(data)

"""The arms of an array encoding."""

import pyarrow as pa
import pytest
from lanceref.core.errors import UnknownEncoding
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import Column, Page, flat, no_nulls, open_built, read_built, scanned


@pytest.mark.parametrize("arm", [{"constant": {}}, {"struct": {}}, {"list": {}}, {}])
def test_encodings_that_hold_no_values_are_not_supported(arm):
    """A value page has one of the arms that hold values."""
    column = open_built(pa.int8(), [Column([Page(pb.ArrayEncoding(**arm), 1, [])])])

    with pytest.raises(UnknownEncoding, match=r"L\.array\.encoding\.tag"):
        scanned(column)


def test_inner_encodings_are_opened_the_same_way():
    """Wrappers nest in any number."""
    assert [5] == read_built(pa.int8(), no_nulls(no_nulls(flat(8))), 1, b"\x05").to_pylist()

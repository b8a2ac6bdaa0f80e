"""Blob pages, written."""

import pyarrow as pa
import pytest
from lanceref.core.cursor import Extent
from lanceref.core.errors import NotStorable
from lanceref.file.arrow_schema import schema_of
from lanceref.pages.blob import store_blobs
from lanceref.pages.shred import shred

BLOB = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})


class Area:
    """Gives every buffer the next multiple of 64."""

    def __init__(self):
        self.stored, self.position = [], 64

    def write(self, data):
        self.stored.append(bytes(data))
        extent = Extent(self.position, len(data))
        self.position += 64
        return extent


def _stored(rows, field):
    area = Area()
    described = schema_of(pa.schema([field])).fields[0]
    (leaf,) = shred(pa.array(rows, field.type), described)
    descriptors, codes = store_blobs(leaf, area)
    return area.stored, descriptors.leaf.to_pylist(), codes


def test_values_lie_outside_and_nulls_hold_their_level():
    """'abc' at 64, an empty value (0, 0), a null (1 << 16, 0)."""
    stored, descriptors, codes = _stored([b"abc", b"", None], BLOB)

    assert stored == [b"abc"]
    assert descriptors == [
        {"position": 64, "size": 3},
        {"position": 0, "size": 0},
        {"position": 1 << 16, "size": 0},
    ]
    assert codes == (3,)


def test_a_blob_below_a_null_struct_holds_the_level_of_the_struct():
    """A null struct is level 2, a null blob level 1."""
    field = pa.field("s", pa.struct([BLOB]))

    _, descriptors, codes = _stored([None, {"b": None}, {"b": b"x"}], field)

    assert [one["position"] for one in descriptors] == [2 << 16, 1 << 16, 64]
    assert codes == (3, 3)


def test_blobs_in_lists_are_refused():
    """No page that can be read holds them."""
    with pytest.raises(NotStorable):
        _stored([[b"x"]], pa.field("l", pa.list_(BLOB)))

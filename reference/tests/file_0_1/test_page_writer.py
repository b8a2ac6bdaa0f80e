"""Pages, written."""

import pyarrow as pa
import pytest
from lanceref.core.errors import LegacyRefused
from lanceref.file.arrow_schema import schema_of
from lanceref.file_0_1.column import PageWriter, check_storable

from .building import BytesSink


def test_pages_go_out_depth_first():
    """Offsets of lists before their items, bytes of strings before their offsets."""
    sink = BytesSink()
    array = pa.array(
        [{"l": ["ab"], "n": None}], pa.struct([("l", pa.list_(pa.string())), ("n", pa.null())])
    )
    field = schema_of(pa.schema([("s", array.type)])).fields[0]
    pages = PageWriter(sink)
    pages.write(field, array)

    assert {1: [(0, 2)], 2: [(10, 1)], 3: [(26, 1)]} == pages.pages
    assert bytes.fromhex("00000000 01000000 6162 0800000000000000 0a00000000000000") == sink.data


@pytest.mark.parametrize(
    "type_",
    [
        pa.map_(pa.string(), pa.int8()),
        pa.binary(0),
        pa.list_(pa.string(), 2),
        pa.list_(pa.map_(pa.string(), pa.int8())),
        pa.dictionary(pa.int8(), pa.bool_()),
    ],
)
def test_types_without_an_encoding_are_refused(type_):
    """As an OSError, which the oracle raises."""
    field = schema_of(pa.schema([("c", type_)])).fields[0]
    with pytest.raises(LegacyRefused) as refusal:
        check_storable(field)
    assert isinstance(refusal.value, OSError)

"""Odd containers: every buffer is found again, and sloppy files break rules of writers alone."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.file_versions import V2_0
from lanceref.data_file.data_file import open_file
from lanceref.encodings_2_0.values import plain_column
from lanceref.file.arrow_schema import schema_of
from lanceref.file.column_io import EncodedColumn, EncodedPage
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding
from lanceref.storage import BytesSource
from lanceref_testing.odd_container import OddContainer
from lanceref_testing.oddities import ALL, SLOPPY, Chance

SCHEMA = schema_of(pa.schema([("a", pa.int8()), ("b", pa.int8())]))
DATA = ((b"abc", b""), (b"x" * 70,))


class Memory:
    """A sink in memory."""

    def __init__(self):
        self.data = bytearray()

    @property
    def position(self):
        """Bytes so far."""
        return len(self.data)

    def write(self, data):
        """Append bytes."""
        self.data += data


def _file(chance):
    sink = Memory()
    columns = [
        EncodedColumn(
            plain_column().encoding,
            [EncodedPage(i, DATA[at], ArrayEncoding(), 5) for at in (0, 1)],
            (b"of the column",),
        )
        for i in (0, 1)
    ]
    OddContainer(sink, chance, V2_0).finish(SCHEMA, columns, 10)
    return bytes(sink.data)


@given(st.integers(0, 2**32), st.booleans())
def test_every_buffer_is_found(seed, sloppy):
    """At a multiple of 64, but in sloppy files."""
    data = _file(Chance(seed, ALL if sloppy else ALL - SLOPPY))

    opened = open_file(BytesSource(data), Context("f"))

    assert opened.num_rows == 10
    for column in opened.columns:
        stored = [[data[e.offset : e.end] for e in page.extents] for page in column.pages]
        assert stored == [list(part) for part in DATA]
        assert [data[e.offset : e.end] for e in column.extents] == [b"of the column"]
        if not sloppy:
            assert not any(e.offset % 64 for page in column.pages for e in page.extents)


def test_equal_buffers_may_be_stored_once():
    """Six buffers of three contents lie at three to six places."""
    places = []
    for seed in range(20):
        opened = open_file(
            BytesSource(_file(Chance(seed, {"equal buffers stored once"}))), Context("f")
        )
        listed = [e for c in opened.columns for p in c.pages for e in p.extents]
        listed += [e for c in opened.columns for e in c.extents]
        places.append(len({extent for extent in listed if extent.size}))

    assert (min(places), max(places)) == (3, 6)

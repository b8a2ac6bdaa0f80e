"""Files laid out by hand read as the table they were made for."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lance_conformance.recipes.hand import Page, by_hand, fast_lanes, reworked, words
from lance_conformance.recipes.model import DATA, Made, Resize
from lance_conformance.recipes.oracle_made import column
from lanceref.codecs.bitpack import unpack
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding
from lanceref.storage import BytesSource


def _flat() -> ArrayEncoding:
    encoding = ArrayEncoding()
    encoding.flat.bits_per_value = 32
    encoding.flat.buffer.SetInParent()
    return encoding


def _opened(data: bytes):
    return open_file(BytesSource(data), Context("made"))


def test_words_are_little_endian():
    """Each integer takes its width, lowest byte first."""
    assert bytes.fromhex("0100020000ff") == words(1, 2, 0xFF00, width=2)


@pytest.mark.oracle
def test_given_pages_replace_those_of_the_oracle():
    """Column 0 has two pages by hand, column 1 keeps its own buffers."""
    table = pa.table({"a": pa.array([4, 5, 6], pa.int32()), "b": pa.array([7, 8, 9], pa.int32())})
    pages = [Page(_flat(), 2, (words(4, 5, width=4),)), Page(_flat(), 1, (words(6, width=4),))]
    made = by_hand(table, "2.0", {0: pages})()
    file = _opened(made.files[DATA])
    read = [
        next(file.open_field(field).scan(0, 3)).to_pylist()
        for field in file.descriptor.schema.fields[1:]
    ]

    assert "hand" == made.made_by
    assert [2, 1] == [page.num_rows for page in file.columns[0].pages]
    assert [0, 64] == [page.extents[0].offset for page in file.columns[0].pages]
    assert [[7, 8, 9]] == read


@pytest.mark.oracle
def test_a_column_can_own_a_buffer():
    """The buffer lies in the column's metadata, not in a page's."""
    table = column(pa.array([1], pa.int32()))
    made = by_hand(table, "2.0", {0: [Page(_flat(), 1, ())]}, {0: words(1, width=4)})()

    assert [4] == [extent.size for extent in _opened(made.files[DATA]).columns[0].extents]


@given(st.sampled_from([8, 16, 32, 64]), st.integers(1, 8), st.integers(0, 2**32))
def test_packed_blocks_unpack(bits, width, seed):
    """The slow loop here and the reference's unpacking are inverse."""
    values = np.random.default_rng(seed).integers(0, 2**width, 1000).tolist()
    packed = np.frombuffer(fast_lanes(values, bits, width), f"<u{bits // 8}").reshape(1, -1)
    found = np.empty((1, 1024), packed.dtype)
    unpack(packed, width, found)

    assert values + [0] * 24 == found[0].tolist()


def test_changes_of_a_maker_come_one_after_the_other():
    """The second sees what the first made; the table stays."""
    table = pa.table({"a": [1]})
    made = reworked(
        lambda: Made({DATA: b"abc"}, table), Resize(append=b"d"), Resize(keep=-1, append=b"ef")
    )()

    assert ({DATA: b"abcef"}, table, "hand") == (made.files, made.table, made.made_by)

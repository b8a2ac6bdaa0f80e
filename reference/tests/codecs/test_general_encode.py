"""General compression, encoded."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.codecs.blocks import decode_block
from lanceref.codecs.compressive import decode_zip_variable
from lanceref.codecs.general import (
    compress,
    compress_each,
    compress_mini,
    general_encoding,
)
from lanceref.codecs.values import MiniBlocks, flat_encoding
from lanceref.codecs.variable import variable_encoding

from .encoded_runs import decoded, texts_of, variable
from .runs import CTX, PLACE, cursor_of


def _blocks(count, per_chunk=512):
    data = (np.arange(count) % 5).astype("<u8").view(np.uint8)
    counts = np.minimum(per_chunk, count - np.arange(0, count, per_chunk))
    return MiniBlocks(flat_encoding(64), counts, ((data, counts * 8),))


@pytest.mark.parametrize("scheme", ["lz4", "zstd"])
@given(data=st.binary(max_size=3000))
def test_a_compressed_block_comes_back(scheme, data):
    """The size before the frame is that of the data."""
    stored = compress(scheme, None, data)

    encoding = general_encoding(scheme, None, flat_encoding(8))
    back = decode_block(encoding, cursor_of(stored), len(data))

    assert int.from_bytes(stored[: 4 if scheme == "lz4" else 8], "little") == len(data)
    assert bytes(back.data) == data


@pytest.mark.parametrize("scheme", ["lz4", "zstd"])
def test_chunks_come_back(scheme):
    """Buffer 0 of every chunk is compressed by itself."""
    blocks = compress_mini(_blocks(2000), scheme, None)

    assert blocks.encoding.WhichOneof("compression") == "general"
    assert decoded(blocks).data.view("<u8").tolist() == [i % 5 for i in range(2000)]


def test_small_pages_are_left_alone():
    """Below 4,096 bytes nothing is gained."""
    blocks = _blocks(511)

    assert compress_mini(blocks, "lz4", None) is blocks


def test_pages_that_do_not_shrink_are_left_alone():
    """Random bytes are stored as they are."""
    data = np.random.default_rng(0).integers(0, 256, 8192, np.uint8)
    blocks = MiniBlocks(flat_encoding(8), np.array([4096, 4096]), ((data, np.array([4096, 4096])),))

    assert compress_mini(blocks, "zstd", None) is blocks


def test_each_value_is_a_frame_of_its_own():
    """Values come back one by one, empty ones too."""
    texts = [b"abc" * 100, b"", b"x"]

    stored = compress_each(variable(texts), "zstd", 0)

    encoding = general_encoding("zstd", 0, variable_encoding(32))
    assert texts_of(decode_zip_variable(encoding, stored, CTX, PLACE)) == texts
    assert encoding.general.compression.level == 0


def test_an_unknown_scheme_is_refused():
    """The name is in the message."""
    with pytest.raises(ValueError, match="bogus"):
        compress("bogus", None, b"")

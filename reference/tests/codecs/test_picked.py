"""Picked values: the same as those of the whole run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.codecs import bitpack
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.compressive import decode_mini, pick
from lanceref.codecs.values import MiniBlocks, even_counts, flat_encoding
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def _run(blocks: MiniBlocks) -> ChunkRun:
    """A run of chunks with nothing but their only buffer, an odd byte between them."""
    (data, sizes), starts, parts, end = blocks.buffers[0], [], [], 0
    for at, size in zip((np.cumsum(sizes) - sizes).tolist(), sizes.tolist()):
        starts.append(end)
        parts += [data[at : at + size], np.full(1, 0xAB, np.uint8)]
        end += size + 1
    joined = np.concatenate(parts)
    return ChunkRun(Context("t"), joined, 0, np.array([starts]), sizes[None], blocks.counts)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from([8, 16, 32, 64]), st.data())
def test_values_of_packed_blocks(bits, data):
    """Every width from 0 to that of the values, the last block short."""
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    widths = data.draw(st.lists(st.integers(0, bits), min_size=1, max_size=4))
    blocks = [rng.integers(0, 1 << width, 1024, np.uint64, False) for width in widths if width < 64]
    blocks += [rng.integers(0, 2**64 - 1, 1024, np.uint64, True) for width in widths if width == 64]
    values = np.concatenate(blocks).astype(f"<u{bits // 8}")[: -data.draw(st.integers(1, 1000))]
    encoded = bitpack.encode_inline(values)
    slots = np.array(sorted(data.draw(st.sets(st.integers(0, len(values) - 1), max_size=40))), int)
    found = pick(encoded.encoding, _run(encoded), slots)

    assert (bits, len(slots)) == (found.bits, found.count)
    assert np.array_equal(values[slots], found.data.view(values.dtype))


@pytest.mark.parametrize("bits", [1, 8, 24, 64])
def test_plain_values(bits):
    """Bits and whole bytes; the last chunk is short."""
    size = max(1, bits // 8)
    values = np.random.default_rng(bits).integers(0, 256, 100 * size).astype(np.uint8)
    slots = np.array([0, 7, 8, 63, 64, 99])
    rows = values.reshape(100, size) if bits > 1 else values
    counts = even_counts(100, 64)
    data = np.packbits(values & 1, bitorder="little") if bits == 1 else values
    blocks = MiniBlocks(flat_encoding(bits), counts, ((data, -(-counts * bits // 8)),))
    found = pick(blocks.encoding, _run(blocks), slots)
    wanted = np.packbits(rows[slots] & 1, bitorder="little") if bits == 1 else rows[slots].ravel()

    assert np.array_equal(wanted, found.data)


def test_a_run_that_does_not_fit_is_refused():
    """Sizes are held against counts and widths, as a scan does."""
    blocks = bitpack.encode_inline(np.arange(1024, dtype="<u4"))
    run = _run(blocks)
    short = ChunkRun(run.ctx, run.data, 0, run.starts, run.sizes - 4, run.counts)
    for decode in (pick, lambda *which: decode_mini(*which[:2])):
        with pytest.raises(CorruptPage) as caught:
            decode(blocks.encoding, short, np.array([3]))
        assert "L.codec.bitpack.payload" == caught.value.clause


def test_other_codecs_have_no_single_values():
    """Runs are decoded whole."""
    encoding = CompressiveEncoding()
    encoding.rle.SetInParent()

    assert (
        pick(
            encoding,
            _run(bitpack.encode_inline(np.arange(8, dtype=np.uint8))),
            np.array([1]),
        )
        is None
    )

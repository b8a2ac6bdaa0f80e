"""Positive cases of bitpacking: every width from 0 to 64, by hand.

2.0 packs values back to back: a page for each width from 1 to 64. From 2.1 on a block has
`128 * width` bytes however few of its values are used, so each chunk here uses two.
"""

from __future__ import annotations

import pyarrow as pa
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

from lance_conformance.recipes.hand import Page, by_hand, fast_lanes, words
from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import column
from lance_conformance.recipes.tables.files_2_2_hand import chunk, mini_block, table


def _inline(bits: int) -> CompressiveEncoding:
    encoding = CompressiveEncoding()
    encoding.inline_bitpacking.uncompressed_bits_per_value = bits
    return encoding


def pair(width: int) -> list[int]:
    """The largest value of a width, and one with every other bit."""
    return [2**width - 1, 0x5555555555555555 % 2**width]


def _blocks(bits: int, widths: range, slug: str) -> Positive:
    """One chunk of two values for each width."""
    chunks = [
        chunk(words(width, width=bits // 8) + fast_lanes(pair(width), bits, width))
        for width in widths
    ]
    logs = [1] * (len(chunks) - 1) + [0]
    values = [value for width in widths for value in pair(width)]
    page = Page(
        mini_block(_inline(bits), len(values), (1,)),
        len(values),
        (table(*zip(chunks, logs, strict=True)), b"".join(chunks)),
    )
    array = pa.array(values, getattr(pa, f"uint{bits}")())
    return Positive(
        id=f"file/2.2/bitpack/{slug}",
        title=f"blocks of {bits}-bit values, a chunk for each width {widths[0]} to {widths[-1]}",
        clauses=("L.codec.bitpack.width", "L.codec.bitpack.payload"),
        make=by_hand(column(array), "2.2", {0: [page]}),
        version="2.2",
        reachable=False,
    )


def back_to_back(bits: int, width: int) -> Page:
    """Lay out a 2.0 page of the pair of a width."""
    encoding = ArrayEncoding()
    encoding.bitpacked.compressed_bits_per_value = width
    encoding.bitpacked.uncompressed_bits_per_value = bits
    encoding.bitpacked.buffer.SetInParent()
    first, second = pair(width)
    stream = first | second << width
    return Page(encoding, 2, (stream.to_bytes(-(-2 * width // 8), "little"),))


_ALL = pa.array([value for width in range(1, 65) for value in pair(width)], pa.uint64())

POSITIVES: tuple[Positive, ...] = (
    *(_blocks(bits, range(bits + 1), f"widths-{bits}") for bits in (8, 16, 32)),
    _blocks(64, range(33, 65), "widths-64"),
    _blocks(64, range(33), "widths-64-narrow"),
    Positive(
        id="file/2.0/bitpacked/widths",
        title="64 pages, one for each width from 1 to 64",
        clauses=("L.array.bitpacked.width", "L.array.bitpacked.size"),
        make=by_hand(column(_ALL), "2.0", {0: [back_to_back(64, width) for width in range(1, 65)]}),
        version="2.0",
        reachable=False,
    ),
)
"""Every width of bitpacking."""

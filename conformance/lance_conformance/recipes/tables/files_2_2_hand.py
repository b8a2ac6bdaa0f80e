"""Positive cases of 2.2 pages laid out by hand: legal bytes that the oracle writes rarely or never.

Large chunks need a setting of the environment, packed dictionaries many rows; the others are what
the chunk grammar allows and no writer does.
"""

from __future__ import annotations

from typing import cast

import pyarrow as pa
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, PageLayout, RepDefLayer

from lance_conformance.recipes.hand import Page, by_hand, fast_lanes, words
from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import column

_FE = b"\xfe"


def flat(bits: int) -> CompressiveEncoding:
    """Describe flat values."""
    encoding = CompressiveEncoding()
    encoding.flat.bits_per_value = bits
    return encoding


def packed(bits: int, width: int) -> CompressiveEncoding:
    """Describe values packed out of line."""
    encoding = CompressiveEncoding()
    encoding.out_of_line_bitpacking.uncompressed_bits_per_value = bits
    encoding.out_of_line_bitpacking.values.flat.bits_per_value = width
    return encoding


def mini_block(values: CompressiveEncoding, num_items: int, layers: tuple[int, ...]) -> PageLayout:
    """Describe a mini-block page of 2.2 without levels."""
    layout = PageLayout()
    mini = layout.mini_block_layout
    mini.value_compression.CopyFrom(values)
    mini.num_items, mini.num_buffers, mini.has_large_chunk = num_items, 1, True
    mini.layers.extend(cast(tuple[RepDefLayer, ...], layers))
    return layout


def chunk(*buffers: bytes, levels: tuple[bytes, ...] = (), num_levels: int = 0) -> bytes:
    """Lay out a chunk: header, levels, value buffers, all padded to eight bytes."""
    sizes = words(num_levels, *(len(part) for part in levels), width=2)
    header = sizes + words(*(len(part) for part in buffers), width=4)
    return b"".join(part + _FE * (-len(part) % 8) for part in (header, *levels, *buffers))


def table(*chunks: tuple[bytes, int]) -> bytes:
    """Return the chunk table: size in units of eight bytes less one, then log2 of the values."""
    return words(*(((len(part) // 8 - 1) << 4) | log for part, log in chunks), width=4)


def _case(
    slug: str,
    title: str,
    array: pa.Array,
    clauses: tuple[str, ...],
    layout: PageLayout,
    *buffers: bytes,
    reachable: bool = True,
) -> Positive:
    page = Page(layout, len(array), buffers)
    return Positive(
        id=f"file/2.2/{slug}",
        title=title,
        clauses=clauses,
        make=by_hand(column(array), "2.2", {0: [page]}),
        version="2.2",
        reachable=reachable,
    )


_BYTES = bytes(i * 7 % 251 for i in range(16384 + 100))
_BIG = (chunk(_BYTES[:16384]), chunk(_BYTES[16384:]))

_POOL = [10**9, 10**9 + 3, 10**9 + 1, 10**9 + 2]
_PICKS = [0, 1, 2, 3, 3, 0]


def _dictionary() -> PageLayout:
    layout = mini_block(flat(8), 6, (1,))
    mini = layout.mini_block_layout
    mini.dictionary.CopyFrom(packed(64, 30))
    mini.num_dictionary_items = 4
    return layout


_INDICES = chunk(bytes(_PICKS))

_LAST = chunk(words(1, 2, 3, 4, width=4))


def _never_null() -> PageLayout:
    """Describe levels that are there and all zero: the layer could be null and is not."""
    layout = mini_block(flat(32), 3, (3,))
    layout.mini_block_layout.def_compression.CopyFrom(flat(16))
    return layout


_ZEROS = chunk(words(7, 8, 9, width=4), levels=(bytes(6),), num_levels=3)

POSITIVES: tuple[Positive, ...] = (
    _case("miniblock/large-chunks", "a chunk of 2**14 bytes, far above what 2.1 can hold",
          pa.array(list(_BYTES), pa.uint8()),
          ("L.page.miniblock.chunk-bytes", "L.page.miniblock.log"),
          mini_block(flat(8), len(_BYTES), (1,)),
          table((_BIG[0], 14), (_BIG[1], 0)), b"".join(_BIG)),
    _case("miniblock/last-log", "a last chunk that states its four values",
          pa.array([1, 2, 3, 4], pa.int32()), ("L.page.miniblock.last-log",),
          mini_block(flat(32), 4, (1,)), table((_LAST, 2)), _LAST,
          reachable=False),
    _case("miniblock/never-null", "definition levels that are all zero",
          pa.array([7, 8, 9], pa.int32()), ("L.page.levels.def-range",),
          _never_null(), table((_ZEROS, 0)), _ZEROS,
          reachable=False),
    _case("dictionary/packed-items", "eight-bit indices, a dictionary in one padded block",
          pa.array([_POOL[pick] for pick in _PICKS], pa.int64()),
          ("L.codec.bitpack.out-of-line", "L.page.dictionary.index-width"),
          _dictionary(),
          table((_INDICES, 0)), _INDICES, fast_lanes(_POOL, 64, 30)),
)  # fmt: skip
"""Every positive case of 2.2 pages laid out by hand."""

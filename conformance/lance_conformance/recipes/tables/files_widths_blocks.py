"""Positive cases of bitpacking in whole blocks: a page of two rows for each width.

In 2.0 a FastLanes block holds the values themselves. Since 2.1 a dictionary may be packed out of
line: here each dictionary has 1024 items in one block, of which two rows take the first two.
"""

from __future__ import annotations

import pyarrow as pa
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding

from lance_conformance.recipes.hand import Page, by_hand, fast_lanes
from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import column
from lance_conformance.recipes.tables.files_2_2_hand import chunk, flat, mini_block, packed, table
from lance_conformance.recipes.tables.files_widths import back_to_back, pair


def _array(bits: int, widths: range) -> pa.Array:
    values = [value for width in widths for value in pair(width)]
    return pa.array(values, getattr(pa, f"uint{bits}")())


def _non_negative(bits: int, width: int) -> Page:
    encoding = ArrayEncoding()
    encoding.bitpacked_for_non_neg.compressed_bits_per_value = width
    encoding.bitpacked_for_non_neg.uncompressed_bits_per_value = bits
    encoding.bitpacked_for_non_neg.buffer.SetInParent()
    return Page(encoding, 2, (fast_lanes(pair(width), bits, width),))


def _old(slug: str, title: str, bits: int, pages: list[Page], widths: range) -> Positive:
    return Positive(
        id=f"file/2.0/{slug}",
        title=f"{title}, a page for each width {widths[0]} to {widths[-1]}",
        clauses=(f"L.array.{slug.partition('/')[0]}.size",),
        make=by_hand(column(_array(bits, widths)), "2.0", {0: pages}),
        version="2.0",
        reachable=False,
    )


def _back_to_back(bits: int) -> Positive:
    widths = range(1, bits + 1)
    pages = [back_to_back(bits, width) for width in widths]
    return _old(f"bitpacked/widths-{bits}", f"{bits}-bit values", bits, pages, widths)


def _blocks(bits: int, widths: range, slug: str) -> Positive:
    pages = [_non_negative(bits, width) for width in widths]
    name = f"bitpacked-for-non-neg/{slug}"
    return _old(name, f"FastLanes blocks of {bits}-bit values", bits, pages, widths)


def _dictionary(bits: int, width: int) -> Page:
    layout = mini_block(flat(8), 2, (1,))
    layout.mini_block_layout.dictionary.CopyFrom(packed(bits, width))
    layout.mini_block_layout.num_dictionary_items = 1024
    indices = chunk(b"\0\1")
    return Page(layout, 2, (table((indices, 0)), indices, fast_lanes(pair(width), bits, width)))


def _dictionaries(bits: int, widths: range, slug: str) -> Positive:
    return Positive(
        id=f"file/2.2/dictionary/{slug}",
        title=f"dictionaries of {bits}-bit items, packed to {widths[0]} to {widths[-1]} bits",
        clauses=("L.codec.bitpack.out-of-line",),
        make=by_hand(
            column(_array(bits, widths)),
            "2.2",
            {0: [_dictionary(bits, width) for width in widths]},
        ),
        version="2.2",
        reachable=False,
    )


POSITIVES: tuple[Positive, ...] = (
    *(_back_to_back(bits) for bits in (8, 16, 32)),
    *(_blocks(bits, range(1, bits + 1), f"widths-{bits}") for bits in (8, 16, 32)),
    _blocks(64, range(1, 45), "widths-64"),
    _blocks(64, range(45, 65), "widths-64-wide"),
    *(_dictionaries(bits, range(bits + 1), f"widths-{bits}") for bits in (8, 16, 32)),
    _dictionaries(64, range(45), "widths-64"),
    _dictionaries(64, range(45, 65), "widths-64-wide"),
)
"""Every width of blocks."""

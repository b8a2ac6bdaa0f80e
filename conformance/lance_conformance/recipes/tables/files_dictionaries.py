"""Positive cases of dictionaries of mini-block pages by hand: one page for each codec of the items.

Indices of a byte name items of eight bytes; writers choose few of these codecs.
"""

from __future__ import annotations

import pyarrow as pa
from lanceref.pages.planar import dense_layout

from lance_conformance.recipes import blocks
from lance_conformance.recipes.blocks import Block
from lance_conformance.recipes.hand import Page, by_hand, words
from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import column
from lance_conformance.recipes.tables.files_2_2_hand import chunk, flat, mini_block, table

_ITEMS = [5, 9, 6, 7]
_PICKS = (3, 0, 2, 2, 1)

_ROWS = [_ITEMS[pick] for pick in _PICKS]


def _page(items: Block, version: str) -> Page:
    layout = mini_block(flat(8), len(_PICKS), (1,))
    mini = layout.mini_block_layout
    mini.dictionary.CopyFrom(items[0])
    mini.num_dictionary_items = len(_ITEMS)
    indices = bytes(_PICKS)
    if version == "2.1":
        mini.has_large_chunk = False
        small = words(0, len(indices), width=2).ljust(8, b"\xfe") + indices.ljust(8, b"\xfe")
        return Page(
            layout, len(_PICKS), (words(len(small) // 8 - 1 << 4, width=2), small, items[1])
        )
    large = chunk(indices)
    described = dense_layout(layout) if version == "2.3" else layout
    return Page(described, len(_PICKS), (table((large, 0)), large, items[1]))


_BYTE_RUNS = blocks.runs(blocks.flat(_ITEMS, 64), blocks.flat([1] * len(_ITEMS), 8))

_EVERY = blocks.every(_ITEMS, 64)

_CODED: tuple[Block, ...] = (
    *(_EVERY[name] for name in ("flat", "inline_bitpacking", "out_of_line_bitpacking")),
    *(_EVERY[name] for name in ("general", "general at a level")),
    _BYTE_RUNS,
)


def _case(version: str) -> Positive:
    pages = [_page(items, version) for items in _CODED]
    return Positive(
        id=f"file/{version}/dictionary/codecs",
        title=f"dictionaries of eight-byte items in {len(pages)} codecs",
        clauses=("L.page.dictionary.num-items",),
        make=by_hand(column(pa.array(_ROWS * len(pages), pa.int64())), version, {0: pages}),
        version=version,
        reachable=False,
    )


POSITIVES: tuple[Positive, ...] = tuple(_case(version) for version in ("2.1", "2.2", "2.3"))
"""The codecs of dictionaries in each version."""

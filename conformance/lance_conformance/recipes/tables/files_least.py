"""Cases of data files with the least of a kind: words of no bits; and of leaves out of step."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

import pyarrow as pa
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

from lance_conformance.recipes import blocks
from lance_conformance.recipes.hand import Page, by_hand, words
from lance_conformance.recipes.model import Negative, Positive, SpanPatch
from lance_conformance.recipes.oracle_made import column
from lance_conformance.recipes.pages import VALID, Chunk, chunked, zipped
from lance_conformance.recipes.tables.edits import fault
from lance_conformance.recipes.tables.files_arms import SYMBOLS, case

_EACH = 4
"""Texts of a chunk."""

_S = b"\1"
"""The code of the letter s."""

_LIST = 2
"""Code of lists that are neither null nor empty."""


def _no_bits() -> Positive:
    """Five zeros: a block is the word that tells its width, and no more."""
    encoding, data = blocks.inline([0] * 5, 64)
    return case("no-bits", "a block of packed zeros, which have no bits", "2.1",
                pa.array([0] * 5, pa.uint64()),
                [chunked("2.1", encoding, [Chunk(5, (data,))])],
                "L.codec.bitpack.payload")  # fmt: skip


def _items(values: list[list[int]], width: int, first_row: int = 0) -> Page:
    """Zip the items of lists, each after a level that says whether a row begins."""
    entries: list[bytes] = []
    rows: list[int] = []
    for row in values:
        rows.append(len(entries))
        entries += [bytes([at == 0]) + words(one, width=width) for at, one in enumerate(row)]
    made = zipped("2.1", blocks.flat([0], 8 * width)[0], entries, layers=(VALID, VALID, _LIST),
                  bits=(1, 0), value_bits=8 * width, rows=rows, index_width=1)  # fmt: skip
    return replace(made, first_row=first_row)


def _out_of_step() -> Positive:
    """Lists of structs whose fields begin a page in other rows."""
    lists = [[3, 1], [4], [1, 5, 9], [2, 6]]
    narrow, wide = lists, [[100 * one for one in row] for row in lists]
    rows = [
        [{"a": a, "b": b} for a, b in zip(*pair, strict=True)]
        for pair in zip(narrow, wide, strict=True)
    ]
    type_ = pa.list_(pa.struct([("a", pa.int8()), ("b", pa.int16())]))
    pages = {
        0: [_items(narrow[:3], 1), _items(narrow[3:], 1, 3)],
        1: [_items(wide[:2], 2), _items(wide[2:], 2, 2)],
    }
    made = case("lists-out-of-step", "lists of structs, whose fields have pages of other rows",
                "2.1", pa.array(rows, type_), [], "L.file.pages.length")  # fmt: skip
    return replace(made, make=by_hand(column(pa.array(rows, type_)), "2.1", pages))


def _far_codes() -> Positive:
    """More codes than are expanded at a time, of texts that all have other lengths."""
    encoding = CompressiveEncoding()
    encoding.fsst.symbol_table = SYMBOLS
    encoding.fsst.values.variable.offsets.flat.bits_per_value = 32
    lengths = [1990 + 2 * number for number in range(20)]
    chunks = []
    for first in range(0, len(lengths), _EACH):
        ends = list(accumulate(lengths[first : first + _EACH], initial=4 * (_EACH + 1)))
        codes = _S * (ends[-1] - ends[0])
        chunks.append(Chunk(_EACH, (words(*ends, width=4) + codes,)))
    values = pa.array(["s" * length for length in lengths])
    return case("far-codes", "40 000 codes of one page", "2.1", values,
                [chunked("2.1", encoding, chunks)], "L.codec.fsst.code")  # fmt: skip


POSITIVES: tuple[Positive, ...] = (_no_bits(), _out_of_step(), _far_codes())
"""Every positive case of the least of a kind."""

NEGATIVES: tuple[Negative, ...] = (
    fault("file/2.1/arms/no-bits", "word", "a block that ends inside the word of its width",
          "L.codec.bitpack.payload", SpanPatch(("chunk 0", "size of value buffer 0"), 7)),
)  # fmt: skip
"""Every fault of them."""

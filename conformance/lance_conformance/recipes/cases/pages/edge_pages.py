"""Pages by hand at an edge: the least of a kind, and numbers that are only just allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import Any, cast

import numpy as np
import pyarrow as pa
from lanceref.codecs.variable import symbol_table
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, PageLayout, RepDefLayer

from lance_conformance.recipes import blocks
from lance_conformance.recipes.edits import build
from lance_conformance.recipes.handmade_files import Page, of_pages, with_pages, words
from lance_conformance.recipes.model import Input, Maker
from lance_conformance.recipes.oracle_files import column
from lance_conformance.recipes.pages import NULLABLE, VALID, Chunk, chunked, one_chunk, zipped

LEAST = words(0, 0, 0, 0, 0) + words(1, 0, width=4) + words(2, 1, width=2) + b"LANC"
"""A table of one entry, for a descriptor of no bytes, and the footer."""


def unequal() -> Maker:
    """Structs of whose two children one has a page, and the other two."""

    def page(first: int, *values: int) -> Page:
        chunk = Chunk(len(values), (words(*values, width=2),))
        made = chunked("2.1", blocks.flat([0], 16)[0], [chunk])
        assert isinstance(made.encoding, PageLayout)
        made.encoding.mini_block_layout.layers.append(cast(RepDefLayer, VALID))
        return replace(made, first_row=first)

    structs = pa.array(
        [{"a": at, "b": 9 - at} for at in range(5)],
        pa.struct([("a", pa.int16()), ("b", pa.int16())]),
    )
    pages = {0: [page(0, 0, 1, 2, 3, 4)], 1: [page(0, 9, 8), page(2, 7, 6, 5)]}
    return with_pages(column(structs), "2.1", pages)


def controlled(version: str, bits: int, control: Callable[[int], bytes]) -> Maker:
    """Lists of three entries after control words, with so many bits of repetition levels."""
    entries = [
        control(rep << 8 | def_) + words(value, width=2)
        for rep, def_, value in ((1, 0, 7), (0, 1, 0), (1, 0, 9))
    ]
    shape: dict[str, Any] = {"layers": (NULLABLE, 2), "bits": (bits, 8), "value_bits": 16}
    encoding = blocks.flat([0], 16)[0]
    page = zipped(version, encoding, entries, **shape, rows=(0, 2), index_width=1)
    return of_pages(pa.array([[7, None], [9]], pa.list_(pa.int16())), version, page)


def small_chunks() -> Maker:
    """Chunks whose booleans end inside of a byte."""
    flags = [True, False, False, True, True, True, False]
    parts = [flags[:2], flags[2:6], flags[6:]]
    chunks = [
        Chunk(len(part), (words(sum((flag << at for at, flag in enumerate(part))), width=1),))
        for part in parts
    ]
    made = chunked("2.1", blocks.flat([0], 8)[0], chunks)
    assert isinstance(made.encoding, PageLayout)
    made.encoding.mini_block_layout.value_compression.flat.bits_per_value = 1
    return of_pages(pa.array(flags), "2.1", made)


def null_pairs() -> Maker:
    """A dictionary of pairs of nulls, of which each has a byte of no meaning after its flags."""
    fields = {"items_per_value": 2, "has_validity": True, "values.constant": {}}
    paths = {f"fixed_size_list.{path}": value for path, value in fields.items()}
    items = (build(CompressiveEncoding, paths), bytes(4))
    page = one_chunk("2.3", blocks.flat([0, 1, 0], 8), 3, dictionary=(items, 2))
    return of_pages(pa.array([[None, None]] * 3, pa.list_(pa.int16(), 2)), "2.3", page)


SYMBOLS = symbol_table([b"symbol", b"s"], is_on=True)
STRINGS = build(CompressiveEncoding, {"variable.offsets.flat.bits_per_value": 32})
CODED = build(CompressiveEncoding, {"fsst.symbol_table": SYMBOLS, "fsst.values": STRINGS})
ZSTD = pa.Codec("zstd", compression_level=9)


@cache
def far_least() -> bytes:
    """Return a frame of more bytes than a reader may be made to hold."""
    return bytes(ZSTD.compress(bytes(52 * 2**20), asbytes=True))


def made_frame() -> Input:
    """Put bytes that do not get shorter in a frame as long as the other."""
    noise = np.random.default_rng(1).bytes(len(far_least()) - 10)
    paths = {"compression.scheme": blocks.SCHEMES["zstd"], "values.flat.bits_per_value": 16}
    encoding = build(CompressiveEncoding, {f"general.{path}": new for path, new in paths.items()})
    count, frame = (len(noise) // 2, bytes(ZSTD.compress(noise, asbytes=True)))
    values = pa.Array.from_buffers(pa.uint16(), count, [None, pa.py_buffer(noise)])
    page = chunked("2.1", encoding, [Chunk(count, (frame,))])
    return of_pages(values, "2.1", page)()


def items_least(values: list[list[int]], width: int, first_row: int = 0) -> Page:
    """Zip the items of lists, each after a level that says whether a row begins."""
    entries: list[bytes] = []
    rows: list[int] = []
    for row in values:
        rows.append(len(entries))
        entries += [bytes([at == 0]) + words(one, width=width) for at, one in enumerate(row)]
    encoding = blocks.flat([0], 8 * width)[0]
    shape: dict[str, Any] = {"layers": (VALID, VALID, 2), "bits": (1, 0), "value_bits": 8 * width}
    made = zipped("2.1", encoding, entries, rows=rows, index_width=1, **shape)
    return replace(made, first_row=first_row)


def out_of_step() -> Maker:
    """Lists of structs whose fields begin a page in other rows."""
    lists = [[3, 1], [4], [1, 5, 9], [2, 6]]
    narrow, wide = (lists, [[100 * one for one in row] for row in lists])
    rows = [
        [{"a": a, "b": b} for a, b in zip(*pair, strict=True)]
        for pair in zip(narrow, wide, strict=True)
    ]
    type_ = pa.list_(pa.struct([("a", pa.int8()), ("b", pa.int16())]))
    pages = {
        0: [items_least(narrow[:3], 1), items_least(narrow[3:], 1, 3)],
        1: [items_least(wide[:2], 2), items_least(wide[2:], 2, 2)],
    }
    return with_pages(column(pa.array(rows, type_)), "2.1", pages)


def held(values: Sequence[bytes]) -> Chunk:
    """Store strings after their offsets."""
    ends = accumulate(map(len, values), initial=4 * (len(values) + 1))
    return Chunk(len(values), (words(*ends, width=4) + b"".join(values),))


def far_codes() -> Maker:
    """More codes than are expanded at a time, of texts that all have other lengths."""
    codes = [b"\x01" * (1990 + 2 * number) for number in range(20)]
    chunks = [held(codes[first : first + 4]) for first in range(0, len(codes), 4)]
    values = pa.array(["s" * len(code) for code in codes])
    return of_pages(values, "2.1", chunked("2.1", CODED, chunks))


def in_two_pages(values: pa.Array) -> Maker:
    """Lay numbers out in two pages, one half in each."""
    half, bits = len(values) // 2, values.type.bit_width
    first, second = (
        one_chunk("2.1", blocks.flat(values.slice(at, half).to_pylist(), bits), half)
        for at in (0, half)
    )
    return of_pages(values, "2.1", first, replace(second, first_row=half))

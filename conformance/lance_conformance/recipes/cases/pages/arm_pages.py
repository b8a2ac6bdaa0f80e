"""Pages by hand whose arms no writer chooses where they lie.

Each is what the description allows in its place; the values are the same few in every one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pyarrow as pa
from lanceref.codecs.variable import symbol_table
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, PageLayout, RepDefLayer
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout

from lance_conformance.recipes import blocks
from lance_conformance.recipes.blocks import Block
from lance_conformance.recipes.handmade_files import Page, by_hand, fast_lanes, words
from lance_conformance.recipes.model import Maker
from lance_conformance.recipes.oracle_made import column
from lance_conformance.recipes.pages import NULLABLE, PICKS, Chunk, chunked, zipped


def levels_arms(version: str) -> Maker:
    definition, data = blocks.compressed(blocks.flat([0, 1, 0], 16), "zstd")
    chunk = Chunk(3, (words(1, 0, 3, width=4),), data)
    page = chunked(version, blocks.flat([0], 32)[0], [chunk], definition=definition)
    return by_hand(column(pa.array([1, None, 3], pa.int32())), version, {0: [page]})


LOGS = (11, 13, 14, 15, 1)


def logs(version: str) -> Maker:
    chunks = []
    for log in LOGS:
        encoding, data = blocks.compressed((CompressiveEncoding(), b"U" * max(1, 2**log // 8)))
        encoding.general.values.flat.bits_per_value = 1
        chunks.append(Chunk(2**log, (data,)))
    values = [True, False] * (sum(2**log for log in LOGS) // 2)
    return by_hand(column(pa.array(values)), version, {0: [chunked(version, encoding, chunks)]})


def strings(values: Sequence[bytes], bits: int = 32) -> Block:
    """Store strings as a block."""
    encoding = CompressiveEncoding()
    encoding.variable.offsets.flat.bits_per_value = bits
    ends = [sum(map(len, values[:number])) for number in range(len(values) + 1)]
    width = bits // 8
    head = words(bits, 2 * width + width * len(ends), width=width)
    return (encoding, head + words(*ends, width=width) + b"".join(values))


WORDS_ARMS = [b"symbols", b"", b"\xc3\xa4", b"s"]
SYMBOLS = symbol_table([b"symbol", b"s"], is_on=True)


def picked(version: str, items: Block, count: int, picks: Sequence[int] = PICKS) -> Page:
    indices = blocks.flat(picks, 8)
    return chunked(
        version, indices[0], [Chunk(len(picks), (indices[1],))], dictionary=(items, count)
    )


def pair_dictionary(version: str) -> Maker:
    encoding = CompressiveEncoding()
    encoding.fixed_size_list.items_per_value = 2
    encoding.fixed_size_list.values.flat.bits_per_value = 16
    page = picked(version, (encoding, words(*range(8), width=2)), 4)
    values = pa.array([[2 * pick, 2 * pick + 1] for pick in PICKS], pa.list_(pa.int16(), 2))
    return by_hand(column(values), version, {0: [page]})


def offsets() -> Maker:
    values = [b"abc", b"d", b"", b"ef"]
    ends = [0, 3, 4, 4, 6]
    pages, rows = ([], [])
    for name, (encoding, data) in blocks.every(ends, 32).items():
        if name == "flat":
            continue
        whole = CompressiveEncoding()
        whole.variable.offsets.CopyFrom(encoding)
        pages.append(chunked("2.3", whole, [Chunk(4, (data, b"".join(values)))]))
        rows += values
    empty = CompressiveEncoding()
    empty.variable.offsets.CopyFrom(blocks.constant(0, 32)[0])
    pages.append(chunked("2.3", empty, [Chunk(2, (b"",))]))
    rows += [b"", b""]
    return by_hand(column(pa.array(rows, pa.binary())), "2.3", {0: list(pages)})


def run(values: Block, lengths: Block, count: int) -> Page:
    encoding = CompressiveEncoding()
    encoding.rle.values.CopyFrom(values[0])
    encoding.rle.run_lengths.CopyFrom(lengths[0])
    return chunked("2.3", encoding, [Chunk(count, (values[1], lengths[1]))])


def nothing() -> Maker:
    layout = PlanarLayout()
    layout.structure.dense.layers.append(cast(RepDefLayer, NULLABLE))
    layout.values.none.SetInParent()
    return by_hand(column(pa.array([None] * 3, pa.int32())), "2.3", {0: [Page(layout, 3, ())]})


def compressed_pairs(version: str) -> Maker:
    pairs = CompressiveEncoding()
    pairs.fixed_size_list.items_per_value = 2
    pairs.fixed_size_list.values.flat.bits_per_value = 16
    encoding, data = blocks.compressed((pairs, words(*range(6), width=2)))
    values = pa.array([[0, 1], [2, 3], [4, 5]], pa.list_(pa.int16(), 2))
    return by_hand(column(values), version, {0: [chunked(version, encoding, [Chunk(3, (data,))])]})


def row_encoding() -> CompressiveEncoding:
    """Describe rows of a byte and a word."""
    rows = CompressiveEncoding()
    rows.packed_struct.bits_per_value.extend([8, 16])
    rows.packed_struct.values.flat.bits_per_value = 24
    return rows


ROW_TYPE = pa.struct([("a", pa.int8()), ("b", pa.int16())])
ROW_VALUES = [{"a": i, "b": 1000 + i} for i in range(3)]
ROW_BYTES = [bytes([i]) + words(1000 + i, width=2) for i in range(3)]


def compressed_rows(version: str) -> Maker:
    encoding, data = blocks.compressed((row_encoding(), b"".join(ROW_BYTES)))
    return by_hand(
        column(pa.array(ROW_VALUES, ROW_TYPE), packed="true"),
        version,
        {0: [chunked(version, encoding, [Chunk(3, (data,))])]},
    )


def coded_arms(message: PageLayout) -> None:
    mini = message.mini_block_layout
    inner = CompressiveEncoding.FromString(mini.dictionary.SerializeToString())
    mini.dictionary.fsst.symbol_table = SYMBOLS
    mini.dictionary.fsst.values.CopyFrom(inner)


RUN_LENGTHS = "values.chunked.compression.rle.run_lengths"
CODES = [b"\x00\x01", b"", b"\xff\xc3\xff\xa4", b"\x01"]


def behind(value: bytes, width: int = 4) -> bytes:
    return words(len(value), width=width) + value


def frame_zipped(value: bytes) -> bytes:
    return blocks.compressed((CompressiveEncoding(), value))[1]


def zipped_codes(version: str) -> Maker:
    inner = CompressiveEncoding()
    inner.fsst.symbol_table = SYMBOLS
    inner.fsst.values.variable.offsets.flat.bits_per_value = 32
    encoding, _ = blocks.compressed((inner, b""))
    page = zipped(version, encoding, [behind(frame_zipped(code)) for code in CODES], index_width=1)
    return by_hand(column(pa.array([word.decode() for word in WORDS_ARMS])), version, {0: [page]})


def row_indices(version: str) -> Maker:
    encoding = CompressiveEncoding()
    encoding.variable.offsets.flat.bits_per_value = 32
    entries = [behind(word) for word in WORDS_ARMS]
    pages = [zipped(version, encoding, entries, index_width=width) for width in (4, 8)]
    return by_hand(
        column(pa.array([word.decode() for word in WORDS_ARMS * 2])), version, {0: list(pages)}
    )


def control_zipped(version: str) -> Maker:
    encoding = blocks.flat([0], 16)[0]
    entries = [
        words(rep << 8 | def_, value, width=4)[:4] + words(value, width=2)
        for rep, def_, value in ((1, 0, 7), (0, 1, 0), (1, 0, 9))
    ]
    page = zipped(
        version,
        encoding,
        entries,
        layers=(NULLABLE, 2),
        bits=(9, 8),
        value_bits=16,
        rows=(0, 2),
        index_width=1,
    )
    return by_hand(column(pa.array([[7, None], [9]], pa.list_(pa.int16()))), version, {0: [page]})


def struct_rows() -> Maker:
    type_ = pa.struct([("s", pa.string()), ("t", pa.string()), ("n", ROW_TYPE)])
    values = [
        {"s": word.decode(), "t": word.decode(), "n": row}
        for word, row in zip(WORDS_ARMS, ROW_VALUES, strict=False)
    ]
    encoding = CompressiveEncoding()
    fields = encoding.variable_packed_struct.fields
    coded = fields.add(bits_per_length=32).value.fsst
    coded.symbol_table = SYMBOLS
    coded.values.variable.offsets.flat.bits_per_value = 32
    inner = CompressiveEncoding()
    inner.variable.offsets.flat.bits_per_value = 32
    fields.add(bits_per_length=32).value.CopyFrom(blocks.compressed((inner, b""))[0])
    fields.add(bits_per_value=24).value.CopyFrom(row_encoding())
    rows = [
        behind(code) + behind(frame_zipped(word)) + row
        for code, word, row in zip(CODES, WORDS_ARMS, ROW_BYTES, strict=False)
    ]
    page = zipped("2.3", encoding, [behind(row) for row in rows], index_width=1)
    table = column(pa.array(values, type_), packed="true")
    return by_hand(table, "2.3", {0: [page]})


COUNT_CORNERS = 1030
"""Values of a chunk: a whole block, and six after it."""


def old_header() -> Maker:
    """A dictionary of strings after a header of nine bytes."""
    encoding = CompressiveEncoding()
    encoding.variable.offsets.flat.bits_per_value = 32
    ends = [sum(map(len, WORDS_ARMS[:number])) for number in range(len(WORDS_ARMS) + 1)]
    head = b" " + words(len(WORDS_ARMS), 9 + 4 * len(ends), width=4)
    items: Block = (encoding, head + words(*ends, width=4) + b"".join(WORDS_ARMS))
    indices = blocks.flat(PICKS, 8)
    made = chunked("2.1", indices[0], [Chunk(len(PICKS), (indices[1],))], dictionary=(items, 4))
    values = [WORDS_ARMS[pick].decode() for pick in PICKS]
    return by_hand(column(pa.array(values)), "2.1", {0: [made]})


def two_dictionaries() -> Maker:
    """Two pages of chunks, each with items of its own; rows are taken of both."""
    pages, rows = ([], [])
    for first, items in ((0, [5, 9, 6, 7]), (5, [8, 4, 3, 2])):
        indices = blocks.flat(PICKS, 8)
        made = chunked(
            "2.1",
            indices[0],
            [Chunk(len(PICKS), (indices[1],))],
            dictionary=(blocks.flat(items, 64), len(items)),
        )
        pages.append(replace(made, first_row=first))
        rows += [items[pick] for pick in PICKS]
    values = pa.array(rows, pa.uint64())
    taken = [1, 4, 5, 8]
    make = by_hand(column(values), "2.1", {0: list(pages)})
    return lambda: replace(make(), table=column(values.take(taken)))


def tail() -> Maker:
    """A block of packed levels, and six after it as they are."""
    levels = [int(at % 13 == 1) for at in range(COUNT_CORNERS)]
    encoding, _ = blocks.out_of_line(levels[:1024], 16)
    data = fast_lanes(levels[:1024], 16, 1) + words(*levels[1024:], width=2)
    values = [at % 200 for at in range(COUNT_CORNERS)]
    chunk = Chunk(COUNT_CORNERS, (words(*values, width=1),), data)
    made = chunked("2.1", blocks.flat([0], 8)[0], [chunk], definition=encoding)
    rows = [None if is_null else at for at, is_null in zip(values, levels, strict=True)]
    return by_hand(column(pa.array(rows, pa.uint8())), "2.1", {0: [made]})

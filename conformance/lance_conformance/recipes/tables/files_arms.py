"""Positive cases of arms that no writer chooses where they lie: chunks by hand.

Each is what the description allows in its place; the values are the same few in every one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pyarrow as pa
from lanceref.codecs.fsst_encode import symbol_table
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, PageLayout, RepDefLayer
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout
from lanceref.proto.file_pb2 import Encoding, Field

from lance_conformance.recipes import blocks
from lance_conformance.recipes.blocks import Block
from lance_conformance.recipes.hand import Page, by_hand, reworked, words
from lance_conformance.recipes.messages import field, page, planes
from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import column, file
from lance_conformance.recipes.pages import NULLABLE, Chunk, chunked
from lance_conformance.recipes.tables.edits import assign, fault

EVERY = ("2.1", "2.2", "2.3")


def case(
    slug: str, title: str, version: str, array: pa.Array, pages: Sequence[Page], clause: str
) -> Positive:
    """Return the case of a column of these pages, laid out by hand."""
    return Positive(
        id=f"file/{version}/arms/{slug}",
        title=title,
        clauses=(clause,),
        make=by_hand(column(array), version, {0: list(pages)}),
        version=version,
        reachable=False,
    )


def _levels(version: str) -> Positive:
    definition, data = blocks.compressed(blocks.flat([0, 1, 0], 16), "zstd")
    chunk = Chunk(3, (words(1, 0, 3, width=4),), data)
    page = chunked(version, blocks.flat([0], 32)[0], [chunk], definition=definition)
    return case("levels", "definition levels that are compressed", version,
                 pa.array([1, None, 3], pa.int32()), [page], "L.codec.encoding.levels")  # fmt: skip


_LOGS = (11, 13, 14, 15, 1)


def _logs(version: str) -> Positive:
    chunks = []
    for log in _LOGS:
        encoding, data = blocks.compressed((CompressiveEncoding(), b"\x55" * max(1, 2**log // 8)))
        encoding.general.values.flat.bits_per_value = 1
        chunks.append(Chunk(2**log, (data,)))
    values = [True, False] * (sum(2**log for log in _LOGS) // 2)
    return case("logs", "chunks of 2**11 to 2**15 booleans, compressed", version, pa.array(values),
                 [chunked(version, encoding, chunks)], "L.page.miniblock.log")  # fmt: skip


def _strings(values: Sequence[bytes], bits: int = 32) -> Block:
    """Store strings as a block."""
    encoding = CompressiveEncoding()
    encoding.variable.offsets.flat.bits_per_value = bits
    ends = [sum(map(len, values[:number])) for number in range(len(values) + 1)]
    width = bits // 8
    head = words(bits, 2 * width + width * len(ends), width=width)
    return encoding, head + words(*ends, width=width) + b"".join(values)


_PICKS = (3, 0, 2, 2, 1)

WORDS = [b"symbols", b"", b"\xc3\xa4", b"s"]

SYMBOLS = symbol_table([b"symbol", b"s"], is_on=True)


def _picked(version: str, items: Block, count: int, picks: Sequence[int] = _PICKS) -> Page:
    indices = blocks.flat(picks, 8)
    return chunked(version, indices[0], [Chunk(len(picks), (indices[1],))],
                   dictionary=(items, count))  # fmt: skip


def _word_dictionary(version: str) -> Positive:
    values = [WORDS[pick].decode() for pick in _PICKS]
    return case("words", "a dictionary of strings as they are", version, pa.array(values),
                 [_picked(version, _strings(WORDS), 4)],
                 "L.page.dictionary.num-items")  # fmt: skip


def _pair_dictionary(version: str) -> Positive:
    encoding = CompressiveEncoding()
    encoding.fixed_size_list.items_per_value = 2
    encoding.fixed_size_list.values.flat.bits_per_value = 16
    page = _picked(version, (encoding, words(*range(8), width=2)), 4)
    values = pa.array([[2 * pick, 2 * pick + 1] for pick in _PICKS], pa.list_(pa.int16(), 2))
    return case("pairs", "a dictionary of pairs", version, values, [page],
                 "L.page.dictionary.num-items")  # fmt: skip


def _offsets() -> Positive:
    values = [b"abc", b"d", b"", b"ef"]
    ends = [0, 3, 4, 4, 6]
    pages, rows = [], []
    for name, (encoding, data) in blocks.every(ends, 32).items():
        if name == "flat":  # offsets as they are lie before the bytes
            continue
        whole = CompressiveEncoding()
        whole.variable.offsets.CopyFrom(encoding)
        pages.append(chunked("2.3", whole, [Chunk(4, (data, b"".join(values)))]))
        rows += values
    empty = CompressiveEncoding()
    empty.variable.offsets.CopyFrom(blocks.constant(0, 32)[0])
    pages.append(chunked("2.3", empty, [Chunk(2, (b"",))]))
    rows += [b"", b""]
    return case("offsets", "offsets of strings in every codec of blocks", "2.3",
                 pa.array(rows, pa.binary()), pages, "L.codec.variable.offsets")  # fmt: skip


def _run(values: Block, lengths: Block, count: int) -> Page:
    encoding = CompressiveEncoding()
    encoding.rle.values.CopyFrom(values[0])
    encoding.rle.run_lengths.CopyFrom(lengths[0])
    return chunked("2.3", encoding, [Chunk(count, (values[1], lengths[1]))])


def _runs() -> Positive:
    values, lengths = blocks.flat([7, 9], 16), blocks.flat([2, 3], 16)
    pages = [_run(blocks.compressed(values), lengths, 5),
             _run(values, blocks.compressed(lengths, "zstd"), 5)]  # fmt: skip
    return case("runs", "runs of which the values are compressed, or the lengths of 16 bits",
                 "2.3", pa.array([7, 7, 9, 9, 9] * 2, pa.int16()), pages,
                 "L.codec.rle.sum")  # fmt: skip


def _nothing() -> Positive:
    layout = PlanarLayout()
    layout.structure.dense.layers.append(cast(RepDefLayer, NULLABLE))
    layout.values.none.SetInParent()
    return case("nothing", "levels, and no values: all rows are null", "2.3",
                 pa.array([None] * 3, pa.int32()), [Page(layout, 3, ())],
                 "L.page.planar.planes")  # fmt: skip


def _old_words(version: str) -> Positive:
    table = column(pa.array([1, 2, 3], pa.int32()))
    make = reworked(file(table, version), field(0, type=Field.LEAF, encoding=Encoding.RLE))
    made = case("old-words", "a field that is called a leaf in runs, which nobody heeds", version,
                 table["c"].chunk(0), [], "L.file.schema.logical-type")  # fmt: skip
    return replace(made, make=make)


def _compressed_pairs(version: str) -> Positive:
    pairs = CompressiveEncoding()
    pairs.fixed_size_list.items_per_value = 2
    pairs.fixed_size_list.values.flat.bits_per_value = 16
    encoding, data = blocks.compressed((pairs, words(*range(6), width=2)))
    values = pa.array([[0, 1], [2, 3], [4, 5]], pa.list_(pa.int16(), 2))
    return case("compressed-pairs", "pairs that are compressed", version, values,
                 [chunked(version, encoding, [Chunk(3, (data,))])],
                 "L.codec.general.frame")  # fmt: skip


def row_encoding() -> CompressiveEncoding:
    """Describe rows of a byte and a word."""
    rows = CompressiveEncoding()
    rows.packed_struct.bits_per_value.extend([8, 16])
    rows.packed_struct.values.flat.bits_per_value = 24
    return rows


ROW_TYPE = pa.struct([("a", pa.int8()), ("b", pa.int16())])
ROW_VALUES = [{"a": i, "b": 1000 + i} for i in range(3)]
ROW_BYTES = [bytes([i]) + words(1000 + i, width=2) for i in range(3)]


def packed(slug: str, title: str, version: str, page: Page, clause: str) -> Positive:
    """Return the case of three packed rows, which a page holds."""
    table = column(pa.array(ROW_VALUES, ROW_TYPE), packed="true")
    made = case(slug, title, version, table["c"].chunk(0), [page], clause)
    return replace(made, make=by_hand(table, version, {0: [page]}))


def _compressed_rows(version: str) -> Positive:
    encoding, data = blocks.compressed((row_encoding(), b"".join(ROW_BYTES)))
    return packed("compressed-rows", "packed rows that are compressed", version,
                   chunked(version, encoding, [Chunk(3, (data,))]),
                   "L.codec.general.frame")  # fmt: skip


_ANYWHERE = (
    *(_levels, _logs, _word_dictionary, _pair_dictionary, _old_words),
    *(_compressed_pairs, _compressed_rows),
)
"""Makers of cases of each version."""

POSITIVES: tuple[Positive, ...] = (
    *(make(version) for make in _ANYWHERE for version in EVERY),
    _offsets(),
    _runs(),
    _nothing(),
)
"""Every case of a rare arm."""


def _computed(message: PlanarLayout) -> None:
    message.values.chunked.dictionary.CopyFrom(blocks.steps(7, 2, 64)[0])


def _coded(message: PageLayout) -> None:
    mini = message.mini_block_layout
    inner = CompressiveEncoding.FromString(mini.dictionary.SerializeToString())
    mini.dictionary.fsst.symbol_table = SYMBOLS
    mini.dictionary.fsst.values.CopyFrom(inner)


_CONTEXT = "L.codec.encoding.context"
_RUN_LENGTHS = "values.chunked.compression.rle.run_lengths"

NEGATIVES = (
    fault("file/2.3/arms/words", "computed", "a dictionary whose items are a range", _CONTEXT,
          planes(_computed)),
    fault("file/2.1/arms/words", "coded", "a dictionary of codes of symbols", _CONTEXT,
          page(_coded)),
    fault("file/2.3/arms/runs", "long", "run lengths of 64 bits", "L.codec.rle.children",
          assign(f"{_RUN_LENGTHS}.flat.bits_per_value", 64)),
    fault("file/2.3/arms/runs", "constant", "one run length for all, in a chunk", _CONTEXT,
          assign(f"{_RUN_LENGTHS}.constant.value", b"\2\0\0\0")),
    fault("file/2.1/rle/int16", "wide", "run values of 128 bits", "L.codec.rle.children",
          assign("mini_block_layout.value_compression.rle.values.flat.bits_per_value", 128)),
)  # fmt: skip
"""What these places do not allow."""

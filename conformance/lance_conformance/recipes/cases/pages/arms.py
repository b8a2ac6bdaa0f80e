"""Cases of arms that no writer chooses where they lie.

Each page is what the description allows in its place; the values are the same few in every one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout
from lanceref.proto.file_pb2 import Encoding, Field

from lance_conformance.recipes import blocks, edits, handmade_files
from lance_conformance.recipes.apply_change import apply
from lance_conformance.recipes.blocks import Block
from lance_conformance.recipes.cases.pages import edge_pages
from lance_conformance.recipes.cases.pages.edge_pages import CODED, STRINGS
from lance_conformance.recipes.constructors import case, cases, fault, faults, lint
from lance_conformance.recipes.edits import assign, build, byte, field, page
from lance_conformance.recipes.handmade_files import Page, of_pages, words
from lance_conformance.recipes.model import DATA, Maker, Recipe, Resize, SpanPatch
from lance_conformance.recipes.oracle_files import column, file
from lance_conformance.recipes.pages import (
    NULLABLE,
    PICKS,
    Chunk,
    chunked,
    one_chunk,
    picked,
    zipped,
)

PAIRS_TYPE = pa.list_(pa.int16(), 2)
PAIRS = build(CompressiveEncoding, {"fixed_size_list.items_per_value": 2,
        "fixed_size_list.values.flat.bits_per_value": 16})  # fmt: skip
ROW = build(CompressiveEncoding, {"packed_struct.bits_per_value": [8, 16],
        "packed_struct.values.flat.bits_per_value": 24})  # fmt: skip
"""Rows of a byte and a word."""

ROW_TYPE = pa.struct([("a", pa.int8()), ("b", pa.int16())])
ROW_VALUES = [{"a": i, "b": 1000 + i} for i in range(3)]
ROW_BYTES = [bytes([i]) + words(1000 + i, width=2) for i in range(3)]
ROWS = column(pa.array(ROW_VALUES, ROW_TYPE), packed="true")
WORDS = [b"symbols", b"", b"\xc3\xa4", b"s"]
CODES = [b"\x00\x01", b"", b"\xff\xc3\xff\xa4", b"\x01"]
"""The words in symbols."""

RUN_LENGTHS = "values.chunked.compression.rle.run_lengths"
COUNT_CORNERS = 1030
"""Values of a chunk: a whole block, and six after it."""


def texts(values: Sequence[bytes]) -> pa.Array:
    return pa.array([value.decode() for value in values])


PICKED = texts([WORDS[pick] for pick in PICKS])


def levels_arms(version: str) -> Maker:
    definition, data = blocks.compressed(blocks.flat([0, 1, 0], 16), "zstd")
    chunk = Chunk(3, (words(1, 0, 3, width=4),), data)
    page = chunked(version, blocks.flat([0], 32)[0], [chunk], definition=definition)
    return of_pages(pa.array([1, None, 3], pa.int32()), version, page)


def flags(version: str, *counts: int) -> Page:
    """Lay out compressed chunks of booleans, of which the odd ones are false."""
    chunks = []
    for count in counts:
        encoding, data = blocks.compressed((CompressiveEncoding(), b"U" * -(-count // 8)))
        encoding.general.values.flat.bits_per_value = 1
        chunks.append(Chunk(count, (data,)))
    return chunked(version, encoding, chunks)


def logs(version: str, *counts: int) -> Maker:
    values = pa.array([True, False] * (sum(counts) // 2))
    return of_pages(values, version, flags(version, *counts))


def one_more(old: bytes) -> bytes:
    """Lay a file of flags out anew, with one flag more in its one chunk."""
    longer = handmade_files.rebuild(old, {0: [flags("2.1", 2**15 + 1)]}, {})
    return apply(edits.descriptor({"length": 2**15 + 1}), {DATA: longer})[0][DATA]


def strings(values: Sequence[bytes], width: int = 4, *, early: bool = False) -> Block:
    """Store strings as a block, after the header of the width and start of their ends."""
    ends = [sum(map(len, values[:number])) for number in range(len(values) + 1)]
    head = words(8 * width, 2 * width + width * len(ends), width=width)
    if early:
        head = bytes([8 * width]) + words(
            len(values), len(head) + 1 + width * len(ends), width=width
        )
    encoding = build(CompressiveEncoding, {"variable.offsets.flat.bits_per_value": 8 * width})
    return encoding, head + words(*ends, width=width) + b"".join(values)


def offsets() -> Maker:
    values = [b"abc", b"d", b"", b"ef"]
    encodings = blocks.codecs([0, 3, 4, 4, 6], 32)
    del encodings["flat"]
    pages = [
        chunked("2.3", described_offsets(encoding), [Chunk(4, (data, b"".join(values)))])
        for encoding, data in encodings.values()
    ]
    empty = described_offsets(blocks.constant(0, 32)[0])
    pages.append(chunked("2.3", empty, [Chunk(2, (b"",))]))
    return of_pages(pa.array([*values * len(encodings), b"", b""], pa.binary()), "2.3", *pages)


def described_offsets(encoding: CompressiveEncoding) -> CompressiveEncoding:
    return build(CompressiveEncoding, {"variable.offsets": encoding})


def run(values: Block, lengths: Block, count: int) -> Page:
    encoding = build(CompressiveEncoding, {"rle.values": values[0], "rle.run_lengths": lengths[0]})
    return chunked("2.3", encoding, [Chunk(count, (values[1], lengths[1]))])


def after_length(value: bytes) -> bytes:
    return words(len(value), width=4) + value


def frame_zipped(value: bytes) -> bytes:
    return blocks.compressed((CompressiveEncoding(), value))[1]


def struct_rows() -> Maker:
    type_ = pa.struct([("s", pa.string()), ("t", pa.string()), ("n", ROW_TYPE)])
    values = [
        {"s": word.decode(), "t": word.decode(), "n": row}
        for word, row in zip(WORDS, ROW_VALUES, strict=False)
    ]
    encoding = CompressiveEncoding()
    fields = encoding.variable_packed_struct.fields
    fields.add(bits_per_length=32).value.CopyFrom(CODED)
    fields.add(bits_per_length=32).value.CopyFrom(blocks.compressed((STRINGS, b""))[0])
    fields.add(bits_per_value=24).value.CopyFrom(ROW)
    rows = [
        after_length(after_length(code) + after_length(frame_zipped(word)) + row)
        for code, word, row in zip(CODES, WORDS, ROW_BYTES, strict=False)
    ]
    page = zipped("2.3", encoding, rows, index_width=1)
    return of_pages(column(pa.array(values, type_), packed="true"), "2.3", page)


def two_dictionaries() -> Maker:
    """Two pages of chunks, each with items of its own; rows are taken of both."""
    pages, rows = [], []
    for first, items in ((0, [5, 9, 6, 7]), (5, [8, 4, 3, 2])):
        made = picked("2.1", blocks.flat(items, 64), len(items))
        pages.append(replace(made, first_row=first))
        rows += [items[pick] for pick in PICKS]
    values = pa.array(rows, pa.uint64())
    make = of_pages(values, "2.1", *pages)
    return lambda: replace(make(), table=column(values.take([1, 4, 5, 8])))


def tail(*above: int) -> Maker:
    """A block of packed levels, and six after it as they are, with structs above."""
    levels = [int(at % 13 == 1) for at in range(COUNT_CORNERS)]
    encoding, _ = blocks.out_of_line(levels[:1024], 16)
    data = handmade_files.fast_lanes(levels[:1024], 16, 1) + words(*levels[1024:], width=2)
    values = [at % 200 for at in range(COUNT_CORNERS)]
    chunk = Chunk(COUNT_CORNERS, (words(*values, width=1),), data)
    made = chunked("2.1", blocks.flat([0], 8)[0], [chunk], definition=encoding)
    edits.at_path(made.encoding, edits.M).layers.extend(above)
    values_ = [None if is_null else at for at, is_null in zip(values, levels, strict=True)]
    rows = pa.array(values_, pa.uint8())
    for _ in above:
        rows = pa.StructArray.from_arrays([rows], ["x"])
    return of_pages(rows, "2.1", made)


def distinct(indices: Sequence[int], items: Block, count: int, values: pa.Array) -> Maker:
    """Return a maker of three rows that name items of a dictionary."""
    page = one_chunk("2.1", blocks.flat(indices, 8), 3, dictionary=(items, count))
    return of_pages(values, "2.1", page)


CASES: tuple[Recipe, ...] = (
    case("file/2.3/arms/offsets", "offsets of strings in every codec of blocks",
        "L.codec.variable.offsets", offsets()),
    case("file/2.3/arms/runs", "runs of which the values are compressed, or the lengths of 16 bits",
        "L.codec.rle.sum", of_pages(pa.array([7, 7, 9, 9, 9] * 2, pa.int16()), "2.3",
            run(blocks.compressed(blocks.flat([7, 9], 16)), blocks.flat([2, 3], 16), 5),
            run(blocks.flat([7, 9], 16), blocks.compressed(blocks.flat([2, 3], 16), "zstd"), 5))),
    fault("long", "run lengths of 64 bits", "L.codec.rle.children",
        assign(f"{RUN_LENGTHS}.flat.bits_per_value", 64)),
    fault("constant", "one run length for all, in a chunk", "L.codec.encoding.context",
        assign(f"{RUN_LENGTHS}.constant.value", b"\x02\x00\x00\x00")),
    case("file/2.3/arms/nothing", "levels, and no values: all rows are null",
        "L.page.planar.planes", handmade_files.one_page(pa.array([None] * 3, pa.int32()), "2.3",
            build(PlanarLayout, {"structure.dense.layers": [NULLABLE], "values.none": {}}))),
    case("file/2.3/arms/rows", "packed rows: a coded string, a compressed one, a row",
        "L.codec.packed-struct.row", struct_rows()),
    case("file/2.1/arms/unequal", "structs of whose children one has a page, the other two",
        "L.file.pages.length", edge_pages.unequal()),
    *(case(f"file/2.1/arms/{slug}", "a dictionary of strings with the header of early writers",
            "L.codec.variable.header", of_pages(PICKED.cast(type_), "2.1",
                picked("2.1", strings(WORDS, width, early=True), 4)))
        for slug, width, type_ in (("wide-header", 8, "large_utf8"), ("old-header", 4, "utf8"))),
    fault("gbo-next", "a table that goes on in the footer", "L.file.footer.gbo-start",
        edits.add("footer", "gbo_start", by=8)),
    fault("least", "nothing but a table, for a descriptor of no bytes", "L.file.globals.descriptor",
        Resize(0, edge_pages.LEAST)),
    case("file/2.1/arms/tail", "a whole block of packed levels, and six levels after it",
        "L.codec.bitpack.out-of-line", tail()),
    case("file/2.1/arms/tail-below", "the same levels, of which none says that a struct is null",
        "L.codec.bitpack.raw-tail", tail(NULLABLE)),
    fault("wide", "a level of two bits after those of one", "L.codec.bitpack.raw-tail",
        byte("packed values", at=-2, new=2)),
    case("file/2.1/arms/two-dictionaries", "rows of two pages that have items of their own",
        "L.page.dictionary.num-items", two_dictionaries(), args={"rows": [1, 4, 5, 8]}),
    case("file/2.1/arms/small-chunks", "chunks of two and of four booleans", "L.page.miniblock.log",
        edge_pages.small_chunks()),
    case("file/2.1/arms/control-two", "control words of two bytes, for 16 bits of levels",
        "L.page.fullzip.control-word",
        edge_pages.controlled("2.1", 8, lambda level: words(level, width=2))),
    fault("level", "a definition level above those of its layers", "L.page.levels.def-range",
        byte("control word", at=0, new=5)),
    fault("width-three", "row numbers of three bytes", "L.page.rowindex.width", edits.resize(1, 6)),
    case("file/2.1/arms/two-pages", "two pages of chunks, one after the other",
        "L.file.pages.length", edge_pages.in_two_pages(pa.array([1, 2, 3, 4, 5, 6], pa.int16()))),
    lint("falling", "a second page before the first", "L.file.pages.priority",
        edits.column_edit({"pages.0.priority": 4})),
    case("file/2.1/arms/one-packed", "a dictionary of one item, in a whole block of packed ones",
        "L.codec.bitpack.out-of-line",
        distinct([0, 0, 0], blocks.out_of_line([5], 64), 1, pa.array([5, 5, 5], pa.int64()))),
    case("file/2.3/arms/null-pairs", "a dictionary of pairs of nulls, with twice the bytes",
        "L.codec.fixed-size-list.all-null", edge_pages.null_pairs()),
    case("file/2.1/arms/bare-frame", "a zstd frame without its size before it",
        "L.codec.general.frame", edge_pages.made_frame),
    fault("far", "a frame of as many bytes that stands for 52 million", "L.codec.general.size",
        SpanPatch(("field c", "compressed"), lambda old: edge_pages.far_least())),
    case("file/2.1/arms/no-bits", "a block of packed zeros, which have no bits",
        "L.codec.bitpack.payload", of_pages(pa.array([0] * 5, pa.uint64()), "2.1",
            one_chunk("2.1", blocks.inline([0] * 5, 64), 5))),
    fault("word", "a block that ends inside the word of its width", "L.codec.bitpack.payload",
        SpanPatch(("chunk 0", "size of value buffer 0"), 7)),
    case("file/2.1/arms/lists-out-of-step",
        "lists of structs, whose fields have pages of other rows", "L.file.pages.length",
        edge_pages.out_of_step()),
    case("file/2.1/arms/far-codes", "40 000 codes of one page", "L.codec.fsst.code",
        edge_pages.far_codes()),
    fault("code-next", "the first code without a symbol", "L.codec.fsst.code",
        byte("field c", "bytes", at=0, new=2)),
    case("file/2.1/arms/one-row-pages", "two pages of a row each", "L.file.pages.priority",
        edge_pages.in_two_pages(pa.array([7, 8], pa.int64()))),
    fault("fill", "a value buffer of eight bytes less", "L.page.miniblock.chunk-fill",
        edits.add("chunk 0", "size of value buffer 0", by=-8)),
    case("file/2.1/arms/zstd-items", "the items of a dictionary in a zstd frame",
        "L.codec.general.frame",
        distinct([0, 1, 0], blocks.compressed(blocks.flat([5, 6], 64), "zstd"), 2,
            pa.array([5, 6, 5], pa.int64()))),
    fault("no-bytes", "compressed items that have no bytes", "L.codec.general.frame",
        edits.column_edit({"pages.0.buffer_sizes.-1": 0})),
    fault("texts", "items of any length for a column of integers", "L.page.leaf.kind",
        assign(f"{edits.M}.dictionary.general.values.variable.offsets.flat.bits_per_value", 32)),
    *cases("file/{2.1,2.2,2.3}/arms/levels", "definition levels that are compressed",
        "L.codec.encoding.levels", of=levels_arms),
    *cases("file/{2.1,2.2,2.3}/arms/logs", "chunks of 2**11 to 2**15 booleans, compressed",
        "L.page.miniblock.log", of=lambda version: logs(version, 2**11, 2**13, 2**14, 2**15, 2)),
    case("file/2.1/arms/largest", "a last chunk of 2**15 booleans", "L.page.miniblock.num-items",
        logs("2.1", 2**15)),
    fault("more", "a last chunk of 2**15 + 1 booleans", "L.page.miniblock.num-items",
        Resize(0, one_more)),
    *cases("file/{2.1,2.2,2.3}/arms/words", "a dictionary of strings as they are",
        "L.page.dictionary.num-items",
        of=lambda version: of_pages(PICKED, version, picked(version, strings(WORDS), 4))),
    *cases("file/{2.1,2.2,2.3}/arms/pairs", "a dictionary of pairs", "L.page.dictionary.num-items",
        of=lambda version: of_pages(
            pa.array([[2 * pick, 2 * pick + 1] for pick in PICKS], PAIRS_TYPE), version,
            picked(version, (PAIRS, words(*range(8), width=2)), 4))),
    *cases("file/{2.1,2.2,2.3}/arms/old-words",
        "a field that is called a leaf in runs, which nobody heeds", "L.file.schema.logical-type",
        of=lambda version: handmade_files.edited(
            file(column(pa.array([1, 2, 3], pa.int32())), version),
            field(0, type=Field.LEAF, encoding=Encoding.RLE))),
    *cases("file/{2.1,2.2,2.3}/arms/compressed-pairs", "pairs that are compressed",
        "L.codec.general.frame",
        of=lambda version: of_pages(pa.array([[0, 1], [2, 3], [4, 5]], PAIRS_TYPE), version,
            one_chunk(version, blocks.compressed((PAIRS, words(*range(6), width=2))), 3))),
    *cases("file/{2.1,2.2,2.3}/arms/compressed-rows", "packed rows that are compressed",
        "L.codec.general.frame", of=lambda version: of_pages(ROWS, version,
            one_chunk(version, blocks.compressed((ROW, b"".join(ROW_BYTES))), 3))),
    *cases("file/{2.1,2.2,2.3}/arms/zipped-rows", "packed rows, one by one",
        "L.codec.packed-struct.bits",
        of=lambda version: of_pages(ROWS, version, zipped(version, ROW, ROW_BYTES, value_bits=24))),
    *faults("file/{2.1,2.2}/arms/zipped-rows", fault("misaligned", "rows from the eighth byte on",
            "L.file.alignment.buffers", edits.column_edit({"pages.0.buffer_offsets.0": 8})),
        fault("after", "rows that lie in the descriptor", "L.file.pages.extent",
            edits.column_edit({"pages.0.buffer_offsets.0": 64}))),
    case("file/2.1/arms/zipped-nulls", "null vectors that have no bytes, as of release 2.0.1",
        "L.page.fullzip.value-bits", of_pages(pa.nulls(3, PAIRS_TYPE), "2.1",
            zipped("2.1", build(CompressiveEncoding, {"constant": {}}), [b"\1"] * 3,
                layers=(NULLABLE,), bits=(0, 1), value_bits=0))),
    *cases("file/{2.1,2.2,2.3}/arms/zipped-codes",
        "strings coded by symbols, each compressed after that", "L.codec.general.frame", of=lambda
        version: of_pages(texts(WORDS), version, zipped(version, blocks.compressed((CODED, b""))[0],
                [after_length(frame_zipped(code)) for code in CODES], index_width=1))),
    *cases("file/{2.1,2.2,2.3}/arms/row-index",
        "row indices wider than they need: of four bytes and of eight", "L.page.rowindex.total",
        of=lambda version: of_pages(texts(WORDS * 2), version,
            *(zipped(version, STRINGS, [after_length(word) for word in WORDS], index_width=width)
                for width in (4, 8)))),
    *cases("file/{2.1,2.2,2.3}/arms/control", "control words of four bytes, for 17 bits of levels",
        "L.page.fullzip.control-word",
        of=lambda version: edge_pages.controlled(version, 9, lambda level: words(level, width=4))),
    *faults("file/2.1/arms/words", fault("num-items", "three items of four",
            "L.codec.variable.header", assign("mini_block_layout.num_dictionary_items", 3),
            also="L.page.dictionary.num-items"),
        fault("coded", "a dictionary of codes of symbols", "L.codec.encoding.context",
            assign(f"{edits.M}.dictionary", lambda old: build(CompressiveEncoding,
                    {"fsst.symbol_table": edge_pages.SYMBOLS, "fsst.values": old}))),
        fault("bits", "offsets of 33 bits", "L.codec.variable.header",
            SpanPatch(("header",), lambda old: b"!" + old[1:]))),
    *faults("file/2.3/arms/words",
        fault("computed", "a dictionary whose items are a range", "L.codec.encoding.context",
            page({"values.chunked.dictionary": blocks.range_(7, 2, 64)[0]}))),
)  # fmt: skip

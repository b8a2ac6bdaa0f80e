"""Cases of repetition and definition levels, and of the repetition index."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
from pylanceref.file import LanceFileWriter

from lance_conformance.recipes import columns, edits
from lance_conformance.recipes.constructors import case, cases, fault, faults
from lance_conformance.recipes.edits import add, assign, byte, column_edit, field, resize
from lance_conformance.recipes.handmade_files import words
from lance_conformance.recipes.model import DATA, Input, Maker, Recipe, SpanPatch
from lance_conformance.recipes.oracle_files import column

_CUT = pa.array([[], *[[{"x": True, "y": {"z": False}}]] * 33_000, None, [{"x": False, "y": None}]],
    pa.list_(pa.struct([("x", pa.bool_()), ("y", pa.struct([("z", pa.bool_())]))])))  # fmt: skip
"""33,003 entries: too many for one page of `z`, whose definition levels are of one bit more."""

_IN_PAIRS = column(pa.array([[[{"x": 1}, {"x": 2}], [{"x": 3}, {"x": 4}]], [], None],
        pa.list_(pa.list_(pa.struct([("x", pa.int8())]), 2))))  # fmt: skip
"""Entries of null and empty lists are repeated like all else, which 14.0.2 cannot write."""

_PAIRS = column(pa.array(
        [[{"x": i, "y": 5 if i < 6 else i * 7}, {"x": -i, "y": 5}] for i in range(12)],
        pa.list_(pa.struct([("x", pa.int8()), ("y", pa.int64())]), 2)))  # fmt: skip
"""Two pages of each field: one value alone is in the first page of the second."""


def _own(table: pa.Table, *parts: pa.Table) -> Maker:
    """Return a maker of the file that the reference writes of a table, in parts of a page each."""

    def make() -> Input:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, DATA)
            cache = 1 if parts else None
            with LanceFileWriter(
                str(path), table.schema, version="2.2", data_cache_bytes=cache
            ) as writer:
                for part in parts or (table,):
                    writer.write_batch(part)
            return Input({DATA: path.read_bytes()}, table, "reference")

    return make


_PACKED_LEVELS = f"{edits.M}.def_compression.out_of_line_bitpacking"
"""Where packed levels are described."""


CASES: tuple[Recipe, ...] = (
    case("file/2.1/levels/visible", "a value for each entry that is visible",
        ("L.page.levels.visible", "L.page.leaf.count"), columns.LISTS_OF_LISTS),
    case("file/2.2/levels/rle", "definition levels in runs", "L.codec.rle.sum",
        pa.array([None] * 2000 + list(range(1000, 3000)), pa.int32())),
    fault("frame", "runs whose values end after their lengths", "L.codec.rle.frame",
        byte("size of values", at=0, new=16)),
    case("file/2.2/levels/map", "maps: two leaves under one list of entries",
        ("L.page.levels.numbering", "L.page.siblings.offsets"),
        pa.array([[("a", 1), ("b", None)], None, []], pa.map_(pa.string(), pa.int32()))),
    fault("key-null", "maps whose keys can be null", "L.file.schema.children",
        field(2, nullable=True)),
    case("file/2.2/levels/fixed-size-list-struct-chunks", "pairs of structs in several chunks",
        "L.page.layout.scale", columns.pairs([at * 7919 % 30011 for at in range(12000)])),
    case("file/2.2/levels/list-pairs-empty",
        "lists of pairs, an empty and a null one: two entries each",
        ("L.page.levels.fsl-group", "L.page.levels.rows"), _own(_IN_PAIRS), reachable=False),
    case("file/2.1/levels/list-struct", "lists of structs: both leaves repeat the list",
        ("L.page.siblings.rows", "L.page.siblings.offsets", "L.codec.encoding.levels"),
        pa.array([[{"a": 1, "b": 2}, {"a": 3, "b": 4}], [{"a": 5, "b": 6}], []],
            pa.list_(pa.struct([("a", pa.int32()), ("b", pa.int32())])))),
    fault("no-pages", "a leaf without pages beside one with three rows", "L.page.siblings.rows",
        column_edit({"pages": []}, 1), flags="MissingPart"),
    fault("offsets", "two leaves that cut the same lists elsewhere", "L.page.siblings.offsets",
        SpanPatch(("column 1 page 0", "levels"), b"\x01\x00\x00\x00", nth=1, at=2),
        flags="SiblingsDisagree"),
    fault("levels-width", "levels of 32 bits", "L.codec.encoding.levels",
        assign(f"{edits.M}.rep_compression.flat.bits_per_value", 32), flags="WidthMismatch"),
    fault("levels-none", "an encoding of levels without an arm", "L.codec.encoding.present",
        edits.clear(f"{edits.M}.def_compression.flat"), flags="MissingPart"),
    fault("repindex-size", "half a repetition index", "L.page.repindex.size", resize(2, -8),
        flags="BufferTooShort"),
    fault("repindex-long", "a repetition index and half a one", "L.page.repindex.size",
        resize(2, 8)),
    fault("repindex-huge", "a chunk that finishes 2**62 rows", "L.page.repindex.range",
        byte("repetition index", "rows*", at=7, new=0x40), flags="RepetitionIndexHuge"),
    fault("levels-runs", "levels in runs in a 2.1 file", "L.codec.encoding.levels",
        edits.page({"mini_block_layout.def_compression.rle.values.flat.bits_per_value": 16,
                "mini_block_layout.def_compression.rle.run_lengths.flat.bits_per_value": 8}),
        flags="GrammarOfAnotherVersion"),
    case("file/2.1/levels/cut-siblings",
        "one leaf cut in two pages for its levels, its sibling not",
        ("L.page.siblings.rows", "L.page.layers.code", "L.page.miniblock.num-levels"), _CUT),
    case("file/2.1/levels/null-lists", "lists of which one is null and none empty",
        ("L.page.layers.code", "L.page.levels.numbering"),
        pa.array([[1, 2], None, [3]], pa.list_(pa.int32()))),
    case("file/2.1/levels/empty-lists", "lists of which one is empty and none null",
        ("L.page.layers.code", "L.page.layers.path"),
        pa.array([[1, 2], [], [3]], pa.list_(pa.int32()))),
    case("file/2.1/levels/list-vectors", "lists of vectors: two level and two value buffers",
        "L.page.miniblock.chunk-header",
        pa.table({"c": pa.array([[[1.0, None], [2.0, 3.0]], [], None],
                    pa.list_(pa.list_(pa.float32(), 2))), "d": pa.array([9, 8, 7], pa.int32())})),
    fault("chunk-header", "a chunk smaller than its header", "L.page.miniblock.chunk-header",
        column_edit({"pages.0.buffer_offsets.0": 256, "pages.0.buffer_sizes.1": 8}),
        flags="BufferTooShort"),
    case("file/2.2/levels/fixed-size-list-struct", "pairs of structs: two slots a row",
        ("L.page.layers.dimension", "L.page.layout.scale"), columns.pairs([1, 2, 3, 4, 5, 6])),
    fault("dimension", "lists of no structs", "L.page.layers.dimension",
        field(0, logical_type="fixed_size_list:struct:0"), flags="WidthMismatch"),
    case("file/2.2/levels/list-fixed-size-list-struct", "lists of pairs: entries repeated per slot",
        "L.page.levels.fsl-group", pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()),
            columns.pairs([1, 2, 3, 4, 5, 6]))),
    case("file/2.2/levels/pairs-cut", "pairs of structs, of which one field is read in two pieces",
        ("L.page.layout.scale", "L.page.siblings.rows"),
        _own(_PAIRS, _PAIRS.slice(0, 6), _PAIRS.slice(6))),
    *cases("file/{2.1,2.2}/levels/list", "lists: items, null, empty, a null item",
        ("L.page.levels.numbering", "L.page.repindex.rows"), columns.LISTS),
    *faults("file/2.1/levels/list", fault("layers-path", "no list layer in a column of lists",
            "L.page.layers.path", assign(f"{edits.M}.layers", (3,))),
        fault("rep-range", "a repetition level no layer has", "L.page.levels.rep-range",
            byte("field c", "levels", at=2, new=9, nth=1)),
        fault("first-entry", "a page that starts inside a row", "L.page.repindex.agrees",
            byte("field c", "levels", at=0, new=0, nth=1)),
        fault("visible", "a null list that owns a value", "L.page.miniblock.visible",
            byte("field c", "levels", at=4, new=0, nth=2)), fault("rows", "a page of one row more",
            "L.file.descriptor.length", column_edit({"pages.0.length": 6})),
        fault("no-repetition", "lists without repetition levels", "L.page.miniblock.repetition",
            edits.page({"mini_block_layout.rep_compression": None})),
        fault("depth", "a repetition index of depth 2", "L.page.repindex.depth",
            assign(f"{edits.M}.repetition_index_depth", 2))),
    *faults("file/2.2/levels/list", fault("num-levels", "one level less than there are",
            "L.codec.flat.size", add("chunk 0", "levels", by=-1)),
        fault("rep-range", "a repetition level of 2 under one list", "L.page.levels.rep-range",
            byte("field c", "levels", at=2, new=2, nth=1)),
        fault("visible", "a null that becomes a value", "L.page.miniblock.visible",
            byte("field c", "levels", at=4, new=0, nth=2)),
        fault("depth", "a repetition index of depth 0", "L.page.repindex.depth",
            assign(f"{edits.M}.repetition_index_depth", 0)), fault("repindex-size",
            "a repetition index one byte short", "L.page.repindex.size", resize(2, -1))),
    *cases("file/{2.1,2.2}/levels/list-list", "lists of lists with nulls and empties",
        ("L.page.levels.numbering", "L.page.repindex.rows"), columns.LISTS_OF_LISTS),
    *faults("file/2.1/levels/list-list",
        fault("rep-range", "a repetition level of 3 under two lists", "L.page.levels.rep-range",
            byte("field c", "levels", at=2, new=3, nth=1)),
        fault("def-range", "a level one above the highest", "L.page.levels.def-range",
            byte("field c", "levels", at=0, new=6, nth=2)),
        fault("visible", "one value less than are visible", "L.page.miniblock.visible",
            assign(f"{edits.M}.num_items", 3)), fault("fewer", "fewer values than are visible",
            "L.page.miniblock.visible", assign("mini_block_layout.num_items", 2),
            also=("L.page.levels.visible", "L.page.leaf.count"))),
    *cases("file/{2.1,2.2}/levels/large-list", "lists with 64-bit Arrow offsets",
        ("L.page.levels.numbering", "L.page.repindex.rows"),
        columns.LISTS.cast(pa.large_list(pa.int32()))),
    *cases("file/{2.1,2.2}/levels/struct",
        "a struct that can be null: two leaves repeat its validity",
        ("L.page.levels.numbering", "L.page.siblings.validity"), columns.NULL_STRUCTS),
    *cases("file/{2.1,2.2}/levels/required", "below a null struct, a field that is never null",
        "L.page.required.null",
        pa.array([None, {"x": 3}], pa.struct([pa.field("x", pa.int32(), False)]))),
    *faults("file/2.1/levels/required", fault("null", "a null struct where none may be null",
            "L.page.required.null", field(0, nullable=False))),
    *faults("file/2.1/levels/struct", fault("null-child", "a null in a child that is never null",
            "L.page.required.null", field(1, nullable=False), flags="NullWhereNone"),
        fault("siblings", "two fields that disagree on a null struct", "L.page.siblings.validity",
            byte("column 1 page 0", "levels", at=2, new=0, nth=1))),
    *cases("file/{2.1,2.2}/levels/list-struct-list", "lists of structs that hold lists",
        ("L.page.levels.numbering", "L.page.repindex.rows", "L.page.siblings.offsets"),
        columns.LISTS_OF_STRUCTS),
    *cases("file/{2.1,2.2}/levels/bitpacked", "enough nulls that definition levels are packed",
        "L.page.levels.def-range",
        pa.array([None if i % 3 == 0 else i * 131071 for i in range(3000)], pa.int64())),
    *faults("file/2.1/levels/bitpacked", fault("width", "levels of 16 bits packed into 24",
            "L.codec.bitpack.width", assign(f"{_PACKED_LEVELS}.values.flat.bits_per_value", 24)),
        fault("types", "levels of 12 bits", "L.codec.bitpack.types",
            assign(f"{_PACKED_LEVELS}.uncompressed_bits_per_value", 12)),
        fault("size", "levels packed into two bits of one", "L.codec.bitpack.out-of-line",
            assign(f"{_PACKED_LEVELS}.values.flat.bits_per_value", 2))),
    *faults("file/2.2/levels/bitpacked",
        fault("wide", "levels of 32 bits", "L.codec.encoding.levels",
            assign(f"{_PACKED_LEVELS}.uncompressed_bits_per_value", 32))),
    *cases("file/{2.1,2.2}/repindex/long-row", "one list spans several chunks",
        ("L.page.repindex.agrees", "L.page.repindex.size"),
        pa.array([list(range(3000)), [1], list(range(2000))], pa.list_(pa.int64()))),
    *faults("file/2.1/repindex/long-row", fault("repindex", "a chunk that finishes one row more",
            "L.page.repindex.rows", byte("repetition index", "rows*", at=0, new=7)),
        fault("leftover", "fewer entries left over than there are", "L.page.repindex.agrees",
            byte("repetition index", "entries*", at=0, new=1)),
        fault("entries", "entries in place of rows", "L.page.repindex.rows",
            SpanPatch(("repetition index",), lambda old: words(0, 3) + bytes(len(old) - 16))),
        fault("leftover-last", "an entry left over at the end", "L.page.repindex.rows",
            SpanPatch(("repetition index", "entries*"), b"\x01" + bytes(7), nth=-1)),
        fault("leftover-huge", "2**62 entries left over", "L.page.repindex.range",
            SpanPatch(("repetition index", "entries*"), bytes(7) + b"@"))),
    *faults("file/2.2/repindex/long-row", fault("rows", "a chunk that finishes one row more",
            "L.page.repindex.rows", add("repetition index", "rows*")),
        fault("leftover", "a chunk that leaves one entry more", "L.page.repindex.agrees",
            add("repetition index", "entries*"))),
)  # fmt: skip

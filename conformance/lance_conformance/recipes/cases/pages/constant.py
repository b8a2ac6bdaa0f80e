"""Cases of constant pages: only nulls, or one value for all rows."""

from __future__ import annotations

import pyarrow as pa
from lanceref.proto.file2_pb2 import ColumnMetadata

from lance_conformance.recipes.columns import pairs
from lance_conformance.recipes.constructors import case, fault
from lance_conformance.recipes.edits import (
    assign,
    byte,
    minor,
    more,
    no_buffers,
    resize,
    spare_buffer,
)
from lance_conformance.recipes.messages import column_edit, field
from lance_conformance.recipes.model import MessageEdit, Recipe

_C = "constant_layout"


def _rows(num_rows: int) -> MessageEdit:

    def edit(message: ColumnMetadata) -> None:
        message.pages[0].length = num_rows

    return column_edit(edit)


_NULL_LISTS = pa.array([[None, None], [], None, [None]], pa.list_(pa.int32()))

CASES: tuple[Recipe, ...] = (
    case("file/2.1/constant/all-null", "only nulls: a page without buffers", "L.page.constant.form",
        pa.array([None] * 5, pa.int32())),
    fault("value", "a constant value in a 2.1 file", "L.page.constant.only-null",
        assign("constant_layout.inline_value", b"\x07\x00\x00\x00")),
    case("file/2.1/constant/null-type", "a column of type null", "L.page.constant.form",
        pa.nulls(3)),
    case("file/2.1/constant/null-lists", "lists without an item: levels and no value",
        "L.page.constant.level-bytes", pa.array([[None, None], [], None], pa.list_(pa.int32()))),
    fault("levels", "a level buffer of an odd size", "L.page.constant.level-bytes", resize(-1, -1)),
    fault("value", "a third buffer in a 2.1 page: a value", "L.page.constant.only-null",
        spare_buffer()),
    case("file/2.2/constant/inline", "one value for every row, in the description",
        "L.page.constant.inline-size", pa.array([7] * 9, pa.int32())),
    fault("size", "an inline value of five bytes", "L.page.constant.inline-size",
        assign("constant_layout.inline_value", bytes(5))),
    case("file/2.2/constant/buffer", "one string for every row, in a buffer of its own",
        "L.page.constant.value-buffer", pa.array(["a string of more than thirty-two bytes"] * 9)),
    fault("sum", "a first buffer one byte longer", "L.page.constant.value-buffer",
        more("size of a buffer"), flags="CountMismatch"),
    fault("start", "a value that begins at its second byte", "L.page.constant.value-buffer",
        more("offsets of the value"), flags="OffsetsNotMonotonic"),
    fault("end", "a value that ends a byte before its buffer", "L.page.constant.value-buffer",
        more("offsets of the value", at=4, by=-1), flags="BufferTooShort"),
    fault("large", "offsets of four bytes for a large string", "L.page.constant.value-buffer",
        field(0, logical_type="large_string"), flags="WidthMismatch"),
    fault("buffer", "a value buffer that claims five buffers", "L.page.constant.value-buffer",
        byte("number of buffers", at=0, new=5)),
    case("file/2.2/constant/list", "one value under lists: levels beside it",
        ("L.page.constant.inline-size", "L.page.constant.level-bytes"),
        pa.array([[5, 5], [], None, [5]], pa.list_(pa.int32()))),
    fault("first-entry", "a page that begins inside a list", "L.page.levels.first-entry",
        byte("field c", "repetition", at=0, new=0)),
    fault("rows", "levels of one row more", "L.page.levels.rows",
        more("field c", "repetition", at=2)),
    case("file/2.2/constant/buffer-fixed",
        "one value of forty bytes for every row, in a buffer of its own",
        "L.page.constant.value-buffer",
        pa.array([b"forty bytes, which no description holds "] * 3, pa.binary(40))),
    case("file/2.2/constant/fixed-size-list-struct", "pairs of structs that are all the same",
        "L.page.layout.scale", pairs([5] * 6)),
    case("file/2.2/constant/pairs-null", "pairs of structs that are the same or null",
        "L.page.layout.scale",
        pa.FixedSizeListArray.from_arrays(pa.array([None if at % 5 == 1 else {"a": 5}
                    for at in range(24)], pa.struct([("a", pa.int16())])), 2)),
    case("file/2.1/constant/levels", "lists of nulls: two buffers of raw levels",
        ("L.page.levels.first-entry", "L.page.levels.special-alone", "L.page.levels.rows",
            "L.page.constant.level-count", "L.page.constant.repetition"), _NULL_LISTS),
    fault("first-entry", "a page that begins inside a list", "L.page.levels.first-entry",
        byte("field c", "repetition", at=0, new=0), flags="LevelsDisagree"),
    fault("special", "a null list that continues another", "L.page.levels.special-alone",
        byte("field c", "definition", at=2, new=2), flags="LevelsDisagree"),
    fault("rows", "levels of one row more", "L.page.levels.rows",
        byte("field c", "repetition", at=2, new=1), flags="CountMismatch"),
    fault("count", "fewer definition than repetition levels", "L.page.constant.level-count",
        resize(1, -2), flags="CountMismatch"),
    fault("no-levels", "lists without levels", "L.page.constant.repetition", no_buffers(),
        flags="MissingPart"),
    fault("packed-levels", "levels with a codec in a constant page of 2.1",
        "L.page.constant.only-null", assign("constant_layout.def_compression.flat.bits_per_value",
        16), flags="GrammarOfAnotherVersion"),
    case("file/2.2/constant/packed-levels", "lists of nulls: levels with codecs",
        ("L.page.limits.levels", "L.page.constant.level-count"), _NULL_LISTS),
    fault("wide", "levels of 32 bits", "L.codec.encoding.levels",
        assign("constant_layout.rep_compression.flat.bits_per_value", 32)),
    fault("range", "a definition level of 4 under three", "L.page.levels.def-range",
        byte("field c", "values", at=4, new=4, nth=1)),
    fault("no-count", "definition levels of no count", "L.page.constant.level-count",
        assign(f"{_C}.num_def_values", 0), flags="CountMismatch"),
    fault("levels-huge", "2**40 repetition levels", "L.page.limits.levels",
        assign(f"{_C}.num_rep_values", 2 ** 40), flags="LevelCountHuge"),
    case("file/2.1/constant/null-structs", "structs and their field null: levels without lists",
        ("L.page.constant.level-count", "L.page.levels.numbering"),
        pa.array([None, {"x": None}, None], pa.struct([("x", pa.int32())]))),
    fault("repetition", "repetition without a list", "L.page.constant.repetition", resize(0, 6)),
    fault("levels", "levels of two rows in a page of three", "L.page.constant.level-count",
        resize(1, -2)),
    case("file/2.2/constant/buffer-levels", "one string below lists: value, then both levels",
        ("L.page.constant.value-buffer", "L.page.constant.form"),
        pa.array([["a string of more than thirty-two bytes"] * 2, [], None,
                ["a string of more than thirty-two bytes"]])),
    fault("utf8", "a value that is not UTF-8", "L.page.leaf.utf8",
        byte("field c", "value", at=0, new=0xFF)),
    fault("spare-buffer", "a fourth buffer", "L.page.constant.form", spare_buffer()),
    case("file/2.2/constant/plain", "one number for nine rows",
        ("L.page.constant.form", "L.page.constant.raw-levels", "L.page.constant.value-type"),
        pa.array([2 ** 40] * 9, pa.int64())),
    fault("buffer", "an inline value and one buffer", "L.page.constant.form", spare_buffer(),
        flags="SpareBuffer"),
    fault("levels", "levels with a codec beside a value", "L.page.constant.raw-levels",
        assign(f"{_C}.rep_compression.flat.bits_per_value", 16), flags="WrongKind"),
    fault("type", "one value for a column of vectors", "L.page.constant.value-type",
        field(0, logical_type="fixed_size_list:int8:8"), flags="WrongKind"),
    fault("as-2-1", "a constant value of 2.2 in a file that says 2.1", "L.page.constant.only-null",
        minor(1), flags="GrammarOfAnotherVersion"),
    fault("as-2-3", "a 2.2 file that says 2.3", "L.file.pages.type-url", minor(3), stage="metadata",
        flags="GrammarOfAnotherVersion"),
    case("file/2.2/constant/list-pairs", "one number below lists of pairs: raw repetition levels",
        ("L.page.levels.fsl-group", "L.page.layout.scale"),
        pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), pairs([7] * 6))),
    fault("group", "five slots for pairs", "L.page.levels.fsl-group", resize(0, -2),
        flags="CountMismatch"),
    fault("scale", "three slots for pairs", "L.page.layout.scale", _rows(3), flags="CountMismatch"),
)  # fmt: skip

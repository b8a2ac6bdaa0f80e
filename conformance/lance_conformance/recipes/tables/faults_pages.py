"""Negative cases of page content: array encodings of 2.0, layouts and codecs of 2.1 and 2.2."""

from __future__ import annotations

from collections.abc import Callable

from google.protobuf.message import Message

from lance_conformance.recipes.model import Change, MessageEdit, Negative, SpanPatch


def _case(
    parent: str,
    slug: str,
    title: str,
    clause: str,
    change: Change,
    stage: str = "any",
    kind: str = "negative-file",
) -> Negative:
    area, version, topic, name = parent.split("/")
    prefix = "lint" if kind == "lint" else "neg"
    return Negative(
        id=f"{area}/{version}/{topic}/{prefix}-{name}-{slug}",
        title=title,
        clause=clause,
        parent=parent,
        change=change,
        meaning=title,
        stage=stage,
        kind=kind,
    )


def _word(*path: str, new: int, nth: int = 0) -> SpanPatch:
    return SpanPatch(path, new, nth)


def _byte(*path: str, at: int, new: int, nth: int = 0) -> SpanPatch:
    """Set one byte of a leaf."""
    return SpanPatch(path, lambda old: old[:at] + bytes([new]) + old[at + 1 :], nth)


def _page(edit: Callable[[Message], None], column: int = 0) -> MessageEdit:
    return MessageEdit(f"page {column}.0", edit)


def _column(edit: Callable[[Message], None], column: int = 0) -> MessageEdit:
    return MessageEdit(f"column {column}", edit)


def _set(path: str, value: object, column: int = 0) -> MessageEdit:
    """Set a field of the page's encoding; `path` names the way to it with dots."""

    def edit(message: Message) -> None:
        *way, last = path.split(".")
        inner = message
        for name in way:
            inner = getattr(inner, name)
        setattr(inner, last, value)

    return _page(edit, column)


def _less(what: str) -> MessageEdit:
    """Cut the last byte off the last page buffer's stated size."""

    def edit(message: Message) -> None:
        message.pages[0].buffer_sizes[-1] -= 1  # type: ignore[attr-defined]

    del what
    return _column(edit)


_FLAT = "nullable.some_nulls.values.flat"
_INT = "file/2.0/flat/int32"
_BOOL = "file/2.0/flat/bool"
_STR = "file/2.0/binary/string"
_DICT = "file/2.0/dictionary/automatic"
_ARROW = "file/2.0/dictionary/arrow"
_LIST = "file/2.0/list/int32"
_FSL = "file/2.0/fixed-size-list/float"
_PACKED = "file/2.0/packed-struct/fixed"
_FSST = "file/2.0/fsst/on"
_STRUCT = "file/2.0/struct/two-fields"


def _constant_arm(message: Message) -> None:
    message.constant.value = b"\1"  # type: ignore[attr-defined]


def _extra_buffer(message: Message) -> None:
    page = message.pages[0]  # type: ignore[attr-defined]
    page.buffer_offsets.append(0)
    page.buffer_sizes.append(0)


def _one_byte_more(message: Message) -> None:
    message.pages[0].buffer_sizes[-1] += 1  # type: ignore[attr-defined]


def _two_headers(message: Message) -> None:
    message.pages.add().CopyFrom(message.pages[0])  # type: ignore[attr-defined]


_ARRAYS = (
    _case(_INT, "type-width", "values of 64 bits in an int32 column", "L.array.flat.type-width",
          _set(f"{_FLAT}.bits_per_value", 64)),
    _case(_INT, "size", "a values buffer one byte short", "L.array.flat.size", _less("values")),
    _case(_BOOL, "size", "a boolean buffer one byte short", "L.array.flat.size", _less("bits")),
    _case(_INT, "buffer-index", "a buffer the page does not have", "L.array.buffer.index",
          _set(f"{_FLAT}.buffer.buffer_index", 9)),
    _case(_INT, "buffer-type", "a buffer of the file", "L.array.buffer.type",
          _set(f"{_FLAT}.buffer.buffer_type", 2)),
    _case(_INT, "constant", "the constant arm that no reader knows", "L.array.encoding.tag",
          _page(_constant_arm)),
    _case(_INT, "validity", "a validity of 8 bits a value", "L.array.nullable.validity",
          _set("nullable.some_nulls.validity.flat.bits_per_value", 8)),
    _case(_STR, "ends-fall", "string ends that fall", "L.array.ends.order",
          _byte("field c", "page 0", "*ends*", at=16, new=0)),
    _case(_STR, "ends-bound", "a string end beyond the bytes", "L.array.ends.bound",
          _set("binary.null_adjustment", 2**40)),
    _case(_STR, "indices-width", "ends of 32 bits", "L.array.ends.width",
          _set("binary.indices.nullable.no_nulls.values.flat.bits_per_value", 32)),
    _case(_STR, "bytes-width", "string bytes of 16 bits", "L.array.binary.bytes-width",
          _set("binary.bytes.flat.bits_per_value", 16)),
    _case(_STR, "utf8", "a byte that is not UTF-8", "L.array.binary.utf8",
          _byte("field c", "page 0", "*bytes*", at=0, new=0xFF)),
    _case(_DICT, "key", "a key beyond the dictionary", "L.array.dictionary.key-range",
          _byte("field c", "page 0", "*", at=3, new=250)),
    _case(_ARROW, "key-width", "16-bit keys in an int8 dictionary",
          "L.array.dictionary.key-width",
          _set("dictionary.indices.nullable.no_nulls.values.flat.bits_per_value", 16)),
    _case(_ARROW, "key", "a key beyond the dictionary", "L.array.dictionary.key-range",
          _byte("field c", "page 0", "*", at=0, new=100)),
    _case(_LIST, "ends-fall", "list ends that fall", "L.array.ends.order",
          _byte("field c", "page 0", "list ends", at=24, new=1)),
    _case(_LIST, "num-items", "a page that claims more items than there are",
          "L.array.list.item-column", _set("list.num_items", 9)),
    _case(_LIST, "adjustment", "a null adjustment of the number of items",
          "L.array.list.null-adjustment", _set("list.null_offset_adjustment", 5)),
    _case(_LIST, "offsets-width", "list ends of 32 bits", "L.array.ends.width",
          _set("list.offsets.nullable.no_nulls.values.flat.bits_per_value", 32)),
    _case(_STRUCT, "two-pages", "a struct header of two pages", "L.array.struct.header",
          _column(_two_headers)),
    _case(_FSL, "dimension", "vectors of 3 in a column of 2", "L.array.fixed-size-list.dimension",
          _set("nullable.some_nulls.values.fixed_size_list.dimension", 3)),
    _case(_PACKED, "size", "a packed buffer one byte short", "L.array.packed-struct.size",
          _less("rows")),
    _case(_FSST, "table", "a symbol table with another magic", "L.codec.fsst.table",
          _page(lambda m: _damage_table(m.fsst, 4, 0))),  # type: ignore[attr-defined]
    _case(_INT, "spare-buffer", "a page buffer that no part of the encoding names",
          "L.array.buffer.named", _column(_extra_buffer), kind="lint"),
    _case(_STR, "spare-byte", "one byte of padding counted to the bytes of the strings",
          "L.array.binary.bytes-end", _column(_one_byte_more), kind="lint"),
    _case("file/2.0/binary/zstd", "size", "a zstd size one byte too large",
          "L.array.flat.compressed-size",
          _byte("field c", "page 0", "uncompressed size", at=0, new=1)),
    _case("file/2.0/binary/lz4", "size", "an lz4 size of 2**31", "L.array.flat.compressed-size",
          _byte("field c", "page 0", "uncompressed size", at=3, new=0x7F)),
    _case("file/2.0/binary/zstd", "scheme", "an unknown compression", "L.array.flat.compression",
          _set("binary.bytes.flat.compression.scheme", "lzma")),
    _case("file/2.0/binary/zstd", "adjustment", "another null adjustment than last end + 1",
          "L.array.binary.null-adjustment-value", _set("binary.null_adjustment", 10**6),
          kind="lint"),
)  # fmt: skip


def _damage_table(fsst: Message, at: int, new: int) -> None:
    table = bytearray(fsst.symbol_table)  # type: ignore[attr-defined]
    table[at] = new
    fsst.symbol_table = bytes(table)  # type: ignore[attr-defined]


_M = "mini_block_layout"
_VALUES = f"{_M}.value_compression"
_M_INT = "file/2.1/miniblock/int32"
_M_I64 = "file/2.1/miniblock/no-nulls"
_M_LIST = "file/2.1/levels/list"
_M_STR = "file/2.1/variable/string"
_M_DICT = "file/2.1/dictionary/string"
_M_ARROW = "file/2.1/dictionary/arrow"
_M_PACK = "file/2.1/bitpack/32"
_M_RLE = "file/2.1/rle/int32"
_M_FSST = "file/2.1/fsst/urls"
_M_LZ4 = "file/2.1/general/lz4"
_M_BSS = "file/2.1/byte-stream-split/float64"
_M_FSL = "file/2.1/fixed-size-list/nullable-items"
_M_LONG = "file/2.1/repindex/long-row"
_M_STRUCT = "file/2.1/levels/struct"
_M_PSTR = "file/2.1/packed-struct/fixed"
_WORD = ("chunk table", "word of chunk 0")


def _layers(*codes: int) -> MessageEdit:
    def edit(message: Message) -> None:
        message.mini_block_layout.layers[:] = codes  # type: ignore[attr-defined]

    return _page(edit)


_CHUNKS = (
    _case(_M_I64, "word-large", "a chunk longer than the buffer", "L.page.miniblock.chunk-bytes",
          _byte(*_WORD, at=1, new=0xFF)),
    _case(_M_I64, "log", "a chunk of 2**15 values", "L.page.miniblock.num-items",
          _byte(*_WORD, at=0, new=0x0F)),
    _case(_M_I64, "last-log", "a last chunk that states its values", "L.page.miniblock.last-log",
          SpanPatch(("chunk table", "word of chunk 1"), lambda old: bytes([old[0] | 3]) + old[1:])),
    _case(_M_I64, "table-size", "a chunk table of three bytes", "L.page.miniblock.table-size",
          _column(lambda m: _set_size(m, 0, 3))),
    _case(_M_INT, "num-items", "more values than rows", "L.page.miniblock.num-items",
          _set(f"{_M}.num_items", 9)),
    _case(_M_INT, "num-items-huge", "2**62 values", "L.page.limits.items",
          _set(f"{_M}.num_items", 2**62)),
    _case(_M_INT, "value-size", "a value buffer beyond its chunk",
          "L.page.miniblock.chunk-fill",
          _byte("chunk 0", "size of value buffer 0", at=1, new=1)),
    _case(_M_INT, "num-levels", "one level more than there are", "L.page.miniblock.num-levels",
          _byte("chunk 0", "levels", at=0, new=7)),
    _case(_M_INT, "large-chunk", "the chunk grammar of 2.2 in a 2.1 file",
          "L.page.miniblock.large-chunk", _set(f"{_M}.has_large_chunk", True)),
    _case("file/2.2/miniblock/int32", "small-chunk", "the chunk grammar of 2.1 in a 2.2 file",
          "L.page.miniblock.large-chunk", _set(f"{_M}.has_large_chunk", False)),
    _case(_M_INT, "num-buffers", "two value buffers for flat values",
          "L.page.miniblock.num-buffers", _set(f"{_M}.num_buffers", 2)),
    _case(_M_INT, "spare-buffer", "a page buffer nobody asks for", "L.page.miniblock.buffers",
          _column(_extra_buffer)),
    _case(_M_INT, "no-values", "a page without value compression",
          "L.page.miniblock.values-present",
          _page(lambda m: m.mini_block_layout.ClearField("value_compression"))),  # type: ignore[attr-defined]
    _case(_M_INT, "width", "values of 64 bits in an int32 column", "L.codec.flat.size",
          _set(f"{_VALUES}.flat.bits_per_value", 64)),
    _case(_M_INT, "layers-none", "no layer at all", "L.page.layers.present", _layers()),
    _case(_M_INT, "layers-code", "a layer of no kind", "L.page.layers.code", _layers(0)),
    _case(_M_INT, "layers-path", "a list layer in a column without lists", "L.page.layers.path",
          _layers(3, 4)),
    _case(_M_LIST, "layers-path", "no list layer in a column of lists", "L.page.layers.path",
          _layers(3)),
    _case(_M_INT, "padding", "zeros behind the levels of a chunk", "L.page.miniblock.padding",
          SpanPatch(("chunk 0", "padding"), lambda old: bytes(len(old))), kind="lint"),
)  # fmt: skip


def _set_size(message: Message, buffer: int, size: int) -> None:
    message.pages[0].buffer_sizes[buffer] = size  # type: ignore[attr-defined]


_LEVELS = (
    _case(_M_INT, "def-range", "a definition level no layer has", "L.page.levels.def-range",
          _byte("field c", "levels", at=0, new=5, nth=1)),
    _case(_M_LIST, "rep-range", "a repetition level no layer has", "L.page.levels.rep-range",
          _byte("field c", "levels", at=2, new=9, nth=1)),
    _case(_M_LIST, "first-entry", "a page that starts inside a row",
          "L.page.repindex.agrees",
          _byte("field c", "levels", at=0, new=0, nth=1)),
    _case(_M_LIST, "visible", "a null list that owns a value", "L.page.miniblock.visible",
          _byte("field c", "levels", at=4, new=0, nth=2)),
    _case(_M_LIST, "rows", "a page of one row more", "L.file.descriptor.length",
          _column(lambda m: _set_length(m, 6))),
    _case(_M_LONG, "repindex", "a chunk that finishes one row more",
          "L.page.repindex.rows",
          _byte("repetition index", "rows*", at=0, new=7)),
    _case(_M_LONG, "leftover", "fewer entries left over than there are",
          "L.page.repindex.agrees",
          _byte("repetition index", "entries*", at=0, new=1)),
    _case(_M_LIST, "no-repetition", "lists without repetition levels",
          "L.page.miniblock.repetition",
          _page(lambda m: m.mini_block_layout.ClearField("rep_compression"))),  # type: ignore[attr-defined]
    _case(_M_LIST, "depth", "a repetition index of depth 2", "L.page.repindex.depth",
          _set(f"{_M}.repetition_index_depth", 2)),
    _case(_M_STRUCT, "siblings", "two fields that disagree on a null struct",
          "L.page.siblings.validity",
          _byte("column 1 page 0", "levels", at=2, new=0, nth=1)),
)  # fmt: skip


def _set_length(message: Message, rows: int) -> None:
    message.pages[0].length = rows  # type: ignore[attr-defined]


_CODECS = (
    _case(_M_STR, "offsets", "a first offset inside the table", "L.codec.variable.offsets",
          _byte("field c", "offsets", at=0, new=1)),
    _case(_M_STR, "utf8", "a byte that is not UTF-8", "L.page.leaf.utf8",
          _byte("field c", "bytes", at=0, new=0xFF)),
    _case(_M_STR, "offset-width", "64-bit offsets in a string column", "L.page.leaf.offset-width",
          _set(f"{_VALUES}.variable.offsets.flat.bits_per_value", 64)),
    _case(_M_PACK, "width", "a block of 33 bits for 32-bit values", "L.codec.bitpack.width",
          _byte("field c", "width", at=0, new=33)),
    _case(_M_PACK, "payload", "a width that wants more bytes", "L.codec.bitpack.payload",
          _byte("field c", "width", at=0, new=9)),

    _case("file/2.1/bitpack/64", "payload", "a width that wants fewer bytes",
          "L.codec.bitpack.payload",
          _byte("field c", "width", at=0, new=1)),
    _case(_M_RLE, "sum", "runs that do not add up", "L.codec.rle.sum",
          _byte("field c", "run lengths", at=0, new=1)),
    _case(_M_RLE, "children", "run lengths of 16 bits", "L.codec.rle.children",
          _set(f"{_VALUES}.rle.run_lengths.flat.bits_per_value", 16)),
    _case(_M_FSST, "table", "a symbol of nine bytes", "L.codec.fsst.table",
          _page(lambda m: _long_symbol(m.mini_block_layout.value_compression.fsst))),  # type: ignore[attr-defined]
    _case(_M_LZ4, "size", "an lz4 size of 2**31", "L.codec.general.size",
          _byte("field c", "uncompressed size", at=3, new=0x7F)),
    _case(_M_LZ4, "scheme", "a compression scheme of no kind", "L.codec.general.scheme",
          _set(f"{_VALUES}.general.compression.scheme", 7)),
    _case(_M_BSS, "size", "a zstd size one value too small", "L.codec.general.size",
          SpanPatch(("field c", "uncompressed size"), lambda old: bytes([old[0] ^ 8]) + old[1:])),
    _case(_M_INT, "buffer-compression", "a compressed flat buffer",
          "L.codec.encoding.buffer-compression",
          _set(f"{_VALUES}.flat.data.scheme", 1)),
    _case(_M_INT, "range", "an encoding of 2.3 in a 2.1 file", "L.codec.encoding.version",
          _set(f"{_VALUES}.range.step", 1)),
    _case(_M_INT, "encoding-none", "a value compression without an arm",
          "L.codec.encoding.present",
          _page(lambda m: m.mini_block_layout.value_compression.ClearField("flat"))),  # type: ignore[attr-defined]
    _case(_M_DICT, "index", "an index beyond the dictionary", "L.page.dictionary.index-range",
          SpanPatch(("field c", "block"), lambda old: b"\xff" * len(old))),
    _case(_M_DICT, "num-items", "a dictionary of fewer items", "L.codec.variable.header",
          _set(f"{_M}.num_dictionary_items", 3)),
    _case(_M_ARROW, "key-width", "32-bit indices for int8 keys", "L.codec.flat.size",
          _set(f"{_VALUES}.flat.bits_per_value", 32)),
    _case(_M_FSL, "dimension", "vectors of 3 in a column of 2", "L.codec.fixed-size-list.bitmap",
          _set(f"{_VALUES}.fixed_size_list.items_per_value", 3)),
    _case(_M_FSL, "bitmap", "a value buffer without its bitmap", "L.page.miniblock.num-buffers",
          _set(f"{_VALUES}.fixed_size_list.has_validity", False)),
    _case(_M_PSTR, "bits", "fields that do not fill the row", "L.codec.packed-struct.bits",
          _page(lambda m: _first_bits(m.mini_block_layout.value_compression.packed_struct))),  # type: ignore[attr-defined]
    _case(_M_STR, "padding", "zeros behind the bytes", "L.codec.variable.padding",
          SpanPatch(("field c", "padding"), lambda old: bytes(len(old)), nth=3), kind="lint"),
)  # fmt: skip


def _long_symbol(fsst: Message) -> None:
    table = fsst.symbol_table  # type: ignore[attr-defined]
    _damage_table(fsst, 8 + 8 * table[0], 9)


def _first_bits(packed: Message) -> None:
    packed.bits_per_value[0] = 8  # type: ignore[attr-defined]


_Z = "full_zip_layout"
_Z_VECTORS = "file/2.1/fullzip/vectors"
_Z_NULL = "file/2.1/fullzip/nullable"
_Z_LIST = "file/2.1/fullzip/list-vectors"
_Z_BIN = "file/2.1/fullzip/binary"
_C_NULL = "file/2.1/constant/all-null"
_C_LIST = "file/2.1/constant/null-lists"
_C_INLINE = "file/2.2/constant/inline"
_C_BUFFER = "file/2.2/constant/buffer"

_OTHERS = (
    _case(_Z_VECTORS, "size", "a byte less than the values take", "L.page.fullzip.size",
          _less("values")),
    _case(_Z_VECTORS, "value-bits", "values of 3 201 bits", "L.page.fullzip.value-bits",
          _set(f"{_Z}.bits_per_value", 3201)),
    _case(_Z_NULL, "definition", "a definition level no layer has", "L.page.fullzip.control-word",
          _byte("control word", at=0, new=9)),
    _case(_Z_NULL, "visible", "a count of visible values that is wrong",
          "L.page.fullzip.num-visible", _set(f"{_Z}.num_visible_items", 3)),
    _case(_Z_NULL, "num-items", "more entries than the buffer holds", "L.page.fullzip.num-items",
          _set(f"{_Z}.num_items", 9)),
    _case(_Z_NULL, "control-bits", "40 bits of levels", "L.page.fullzip.control-bits",
          _set(f"{_Z}.bits_def", 40)),
    _case(_Z_LIST, "row-index", "a row that starts a byte later", "L.page.rowindex.total",
          _byte("start of row 0", at=0, new=1)),
    _case(_Z_BIN, "length", "a value longer than the page", "L.page.fullzip.length",
          _byte("field c", "length", at=3, new=0x7F)),
    _case(_C_NULL, "value", "a constant value in a 2.1 file", "L.page.constant.only-null",
          _set("constant_layout.inline_value", b"\7\0\0\0")),
    _case(_C_LIST, "levels", "a level buffer of an odd size", "L.page.constant.level-bytes",
          _less("levels")),
    _case(_C_INLINE, "size", "an inline value of five bytes", "L.page.constant.inline-size",
          _set("constant_layout.inline_value", bytes(5))),
    _case(_C_BUFFER, "buffer", "a value buffer that claims five buffers",
          "L.page.constant.value-buffer",
          _byte("number of buffers", at=0, new=5)),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_ARRAYS, *_CHUNKS, *_LEVELS, *_CODECS, *_OTHERS)
"""Every negative case of page content."""

"""Positive cases of 2.0 files that need more than one column, or that the oracle never writes."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding, Buffer, Flat
from lanceref.proto.file_pb2 import FileDescriptor

from lance_conformance.recipes.hand import Page, by_hand, fast_lanes, reworked, words
from lance_conformance.recipes.messages import descriptor
from lance_conformance.recipes.model import Made, Positive
from lance_conformance.recipes.oracle_made import column, file

_MIXED = pa.Table.from_arrays(
    [pa.array([1, 2, 3], pa.int32()), pa.array([1, None, 3], pa.int32())],
    schema=pa.schema([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.int32())]),
)

_ENTRY = pa.struct([pa.field("key", pa.string(), False), pa.field("value", pa.int32())])

_PAIRS = pa.array([[{"key": "a", "value": 1}], [], [{"key": "b", "value": None}]], pa.list_(_ENTRY))

_VECTOR_ROWS = pa.array(
    [{"a": 1, "v": [1.0, 2.0, 3.0], "c": 7}, {"a": -1, "v": [0.0, -0.0, 4.0], "c": 255}],
    pa.struct([("a", pa.int16()), ("v", pa.list_(pa.float32(), 3)), ("c", pa.uint8())]),
)


def _owning_strings() -> pa.Array:
    """A null that owns two bytes: "a", null over "xx", "b"."""
    validity, offsets = b"\5", words(0, 1, 3, 4, width=4)
    buffers = [pa.py_buffer(part) for part in (validity, offsets, b"axxb")]
    return pa.Array.from_buffers(pa.string(), 3, buffers)


def _owning_lists() -> pa.Array:
    """A null that owns two items: [1], null over [2, 3], [4]."""
    validity, offsets = pa.py_buffer(b"\5"), pa.py_buffer(words(0, 1, 3, 4, width=4))
    items = pa.array([1, 2, 3, 4], pa.int32())
    return pa.Array.from_buffers(pa.list_(pa.int32()), 3, [validity, offsets], children=[items])


_BLOBS = pa.array([b"abc", None, b"", b"z" * 70], pa.large_binary())


def _case(
    slug: str,
    title: str,
    table: pa.Table,
    clauses: tuple[str, ...],
) -> Positive:
    return Positive(
        id=f"file/2.0/{slug}",
        title=title,
        clauses=clauses,
        make=file(table, "2.0"),
        version="2.0",
    )


_WRITTEN = (
    _case("flat/two-columns", "a field that is never null beside one that is",
          _MIXED, ("L.array.nullable.field", "L.array.column.encoding")),
    _case("binary/zstd-level", "string bytes compressed at level 9",
          column(pa.array([f"a line of words {i}" for i in range(120)]), compression="zstd",
                 compression_level="9"),
          ("L.array.flat.compressed-block", "L.array.flat.compression")),
    _case("list/no-nulls", "lists of which none is null: ends below the adjustment",
          column(pa.array([[1, 2], [], [3]], pa.list_(pa.int32()))),
          ("L.array.list.page", "L.array.list.null-adjustment-value")),
    _case("list/pairs", "a list of structs with the members of a map", column(_PAIRS),
          ("L.array.column.type", "L.array.struct.header")),
    _case("struct/nested", "a struct in a struct: two headers",
          column(pa.array([{"x": 1, "y": {"z": "a"}}, {"x": None, "y": {"z": None}}])),
          ("L.array.struct.length", "L.array.struct.header")),
    _case("packed-struct/vectors", "packed rows of 2 + 12 + 1 bytes, the middle a vector",
          column(_VECTOR_ROWS, packed="true"),
          ("L.array.packed-struct.width", "L.array.packed-struct.children")),
    _case("binary/large-binary", "bytes with 64-bit Arrow offsets",
          column(pa.array([b"", b"\xff\xfe", None, b"\0"], pa.large_binary())),
          ("L.array.binary.type", "L.array.ends.order")),
    _case("binary/null-with-bytes", "a null string that owns bytes", column(_owning_strings()),
          ("L.array.ends.order", "L.array.ends.null-adjustment")),
    _case("list/null-with-items", "a null list that owns items", column(_owning_lists()),
          ("L.array.ends.order", "L.array.ends.null-adjustment")),
    _case("binary/two-buffers", "strings without a null: ends in one buffer, bytes in another",
          column(pa.array(["ab", "c"])), ("L.array.buffer.shared", "L.array.buffer.named")),
    _case("blob/bytes", "blobs: bytes, null, empty, more bytes, outside of the page",
          column(_BLOBS, blob="true"),
          ("L.array.blob.column", "L.array.blob.null", "L.array.blob.payload")),
)  # fmt: skip


def _flat(bits: int, buffer: int = 0, kind: Buffer.BufferType = Buffer.page) -> ArrayEncoding:
    """Describe flat values in a buffer of the page (0) or of the column (1)."""
    flat = Flat(bits_per_value=bits)
    flat.buffer.buffer_index = buffer
    flat.buffer.buffer_type = kind
    return ArrayEncoding(flat=flat)


def _bits(values: list[int], width: int) -> bytes:
    """Pack values back to back, least significant bit first."""
    stream: int = sum((value % 2**width) << (width * i) for i, value in enumerate(values))
    return stream.to_bytes(-(-width * len(values) // 8), "little")


def _rare(
    slug: str,
    title: str,
    array: pa.Array,
    clauses: tuple[str, ...],
    encoding: ArrayEncoding,
    *buffers: bytes,
    column_buffers: dict[int, bytes] | None = None,
) -> Positive:
    return Positive(
        id=f"file/2.0/{slug}",
        title=title,
        clauses=clauses,
        make=by_hand(
            column(array), "2.0", {0: [Page(encoding, len(array), buffers)]}, column_buffers
        ),
        version="2.0",
        reachable=False,
    )


_SIGNED = [0, -1, 15, -16, 7, -8]
_SMALL = [i * 7 % 100 for i in range(1100)]


def _packed(width: int, full: int, signed: bool) -> ArrayEncoding:
    encoding = ArrayEncoding()
    encoding.bitpacked.compressed_bits_per_value = width
    encoding.bitpacked.uncompressed_bits_per_value = full
    encoding.bitpacked.signed = signed
    encoding.bitpacked.buffer.SetInParent()
    return encoding


def _non_negative() -> ArrayEncoding:
    encoding = ArrayEncoding()
    encoding.bitpacked_for_non_neg.compressed_bits_per_value = 7
    encoding.bitpacked_for_non_neg.uncompressed_bits_per_value = 32
    encoding.bitpacked_for_non_neg.buffer.SetInParent()
    return encoding


def _equal_strings() -> ArrayEncoding:
    encoding = ArrayEncoding()
    encoding.fixed_size_binary.byte_width = 3
    encoding.fixed_size_binary.bytes.CopyFrom(_flat(8))
    return encoding


def _marked_vectors() -> ArrayEncoding:
    """Describe vectors whose description says that they have validity."""
    encoding = ArrayEncoding()
    lists = encoding.nullable.no_nulls.values.fixed_size_list
    lists.dimension, lists.has_validity = 2, True
    lists.items.nullable.no_nulls.values.CopyFrom(_flat(16))
    return encoding


def _some_nulls() -> ArrayEncoding:
    """Describe strings that a bitmap makes null, not their ends."""
    encoding = ArrayEncoding()
    encoding.nullable.some_nulls.validity.CopyFrom(_flat(1))
    binary = encoding.nullable.some_nulls.values.binary
    binary.indices.nullable.no_nulls.values.CopyFrom(_flat(64, 1))
    binary.bytes.CopyFrom(_flat(8, 2))
    binary.null_adjustment = 4
    return encoding


_BUILT = (
    _rare("bitpacked/signed", "five bits a value, the sign extended",
          pa.array(_SIGNED, pa.int16()), ("L.array.bitpacked.width", "L.array.bitpacked.size"),
          _packed(5, 16, True), _bits(_SIGNED, 5)),
    _rare("bitpacked/unsigned", "three bits a value",
          pa.array([0, 1, 7, 2, 5], pa.uint64()), ("L.array.bitpacked.width",),
          _packed(3, 64, False), _bits([0, 1, 7, 2, 5], 3)),
    _rare("bitpacked/non-negative", "two FastLanes blocks of seven bits, the last filled up",
          pa.array(_SMALL, pa.int32()), ("L.array.bitpacked-for-non-neg.size",), _non_negative(),
          fast_lanes(_SMALL[:1024], 32, 7) + fast_lanes(_SMALL[1024:], 32, 7)),
    _rare("binary/equal-strings", "strings of three bytes each, without ends",
          pa.array(["abc", "def", "ghi"]), ("L.array.fixed-size-binary.width",), _equal_strings(),
          b"abcdefghi"),
    _rare("fixed-size-list/has-validity", "a flag that no writer sets and no reader heeds",
          pa.array([[1, 2], [3, 4]], pa.list_(pa.int16(), 2)),
          ("L.array.fixed-size-list.dimension",), _marked_vectors(), words(1, 2, 3, 4, width=2)),
    _rare("flat/bare", "flat values without nullable around them",
          pa.array([1, 2, 3], pa.int32()), ("L.array.encoding.tag",), _flat(32),
          words(1, 2, 3, width=4)),
    _rare("binary/bitmap", "strings below a bitmap of nulls",
          pa.array(["a", None, "bc"]), ("L.array.encoding.tag",), _some_nulls(),
          b"\5", words(1, 1, 3), b"abc"),
    _rare("flat/column-buffer", "values in a buffer of the column",
          pa.array([4, 5, 6], pa.int32()), ("L.array.buffer.type", "L.array.buffer.index"),
          _flat(32, 0, Buffer.column), column_buffers={0: words(4, 5, 6, width=4)}),
)  # fmt: skip

_TEXTS = pa.array(["foo", "", None, "zwölf"])
_LISTED = pa.table(
    {
        "n": pa.array([1, 2, 3, 4], pa.int32()),
        "s": pa.array(
            [None if t is None else list(t.encode()) for t in _TEXTS.to_pylist()],
            pa.list_(pa.uint8()),
        ),
    }
)


def _early() -> Made:
    """Lists of bytes after a column of numbers, of which the schema says that they are text."""
    made = reworked(file(_LISTED, "2.0"), descriptor(_say_text))()
    return replace(made, table=_LISTED.set_column(1, "s", _TEXTS))


def _say_text(message: FileDescriptor) -> None:
    message.schema.fields[1].logical_type = "string"
    del message.schema.fields[2]


_EARLY = Positive(
    id="file/2.0/binary/early",
    title="text stored as lists of bytes, as 0.13 did, after a column of numbers",
    clauses=("L.array.binary.early", "L.array.list.page"),
    make=_early,
    version="2.0",
)

POSITIVES: tuple[Positive, ...] = (*_WRITTEN, *_BUILT, _EARLY)
"""Every rare positive case of 2.0 files."""

"""Cases of files by hand that only just are what they are: bare frames, last bytes, odd widths."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
from google.protobuf.message import Message
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout
from lanceref.proto.file2_pb2 import ColumnMetadata
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.storage import BytesSource

from lance_conformance.recipes import blocks
from lance_conformance.recipes.hand import Page, by_hand, reworked
from lance_conformance.recipes.messages import column as column_edit
from lance_conformance.recipes.messages import descriptor
from lance_conformance.recipes.model import DATA, Made, MessageEdit, Negative, Positive, SpanPatch
from lance_conformance.recipes.oracle_made import column, file
from lance_conformance.recipes.pages import Chunk, chunked
from lance_conformance.recipes.tables.edits import byte, fault, resize
from lance_conformance.recipes.tables.files_arms import case


def _null_pairs() -> Positive:
    """A dictionary of pairs of nulls, of which each has a byte of no meaning after its flags."""
    encoding = CompressiveEncoding()
    encoding.fixed_size_list.items_per_value = 2
    encoding.fixed_size_list.has_validity = True
    encoding.fixed_size_list.values.constant.SetInParent()
    indices = blocks.flat([0, 1, 0], 8)
    page = chunked("2.3", indices[0], [Chunk(3, (indices[1],))],
                   dictionary=((encoding, bytes(4)), 2))  # fmt: skip
    return case("null-pairs", "a dictionary of pairs of nulls, with twice the bytes", "2.3",
                pa.array([[None, None]] * 3, pa.list_(pa.int16(), 2)), [page],
                "L.codec.fixed-size-list.all-null")  # fmt: skip


_TEXTS = pa.array(["alpha beta " * 9, "alpha", None, "beta " * 20])


def _bare_frame() -> Positive:
    """Lay the same page out anew, its last buffer without the size before the frame."""
    table = column(_TEXTS, compression="zstd")

    def make() -> Made:
        parsed = open_file(BytesSource(file(table, "2.0")().files[DATA]), Context("written"))
        (page,) = parsed.columns[0].pages
        buffers = [bytes(parsed.bytes.source.read(*extent)) for extent in page.extents]
        assert isinstance(page.encoding, Message)
        bare = Page(page.encoding, page.num_rows, (*buffers[:-1], buffers[-1][8:]))
        return by_hand(table, "2.0", {0: [bare]})()

    return Positive(
        id="file/2.0/binary/zstd-bare",
        title="string bytes in a zstd frame without their length",
        clauses=("L.array.flat.compressed-block",),
        make=make,
        version="2.0",
        reachable=False,
    )


_BYTES = [b"foo", b"", None, b"\xff"]


def _large() -> Positive:
    """Lists of bytes of which the schema says that they are large byte strings."""
    lists = pa.array([None if one is None else list(one) for one in _BYTES],
                     pa.large_list(pa.uint8()))  # fmt: skip

    def say_bytes(message: FileDescriptor) -> None:
        message.schema.fields[0].logical_type = "large_binary"
        del message.schema.fields[1]

    def make() -> Made:
        made = reworked(file(column(lists), "2.0"), descriptor(say_bytes))()
        return replace(made, table=column(pa.array(_BYTES, pa.large_binary())))

    return Positive(
        id="file/2.0/binary/early-large",
        title="large byte strings stored as lists of bytes",
        clauses=("L.array.binary.early",),
        make=make,
        version="2.0",
    )


_BLOB = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
_BLOBS = pa.list_(pa.struct([_BLOB]), 2)


_ZSTD = pa.Codec("zstd", compression_level=9)


@cache
def _far() -> bytes:
    """Return a frame of more bytes than a reader may be made to hold."""
    return bytes(_ZSTD.compress(bytes(52 * 2**20), asbytes=True))


def _made_frame() -> Made:
    """Put bytes that do not get shorter in a frame as long as the other."""
    noise = np.random.default_rng(1).bytes(len(_far()) - 10)
    encoding = CompressiveEncoding()
    encoding.general.compression.scheme = blocks.SCHEMES["zstd"]
    encoding.general.values.flat.bits_per_value = 16
    count, frame = len(noise) // 2, bytes(_ZSTD.compress(noise, asbytes=True))
    values = pa.Array.from_buffers(pa.uint16(), count, [None, pa.py_buffer(noise)])
    page = chunked("2.1", encoding, [Chunk(count, (frame,))])
    return by_hand(column(values), "2.1", {0: [page]})()


def _frame() -> Positive:
    bare = case("bare-frame", "a zstd frame without its size before it", "2.1",
                pa.array([], pa.uint16()), [], "L.codec.general.frame")  # fmt: skip
    return replace(bare, make=_made_frame)


def _blob_pairs() -> Positive:
    rows = [[{"b": bytes([65 + at]) * at}, {"b": b"y" * (7 - at)}] for at in range(6)]
    table = pa.table([pa.array(rows, _BLOBS)], schema=pa.schema([pa.field("c", _BLOBS)]))
    return Positive(
        id="file/2.2/blob/pairs-ranges",
        title="rows of two blobs each, one after the other",
        clauses=("L.page.layout.scale", "L.page.blob.payload"),
        make=file(table, "2.2"),
        version="2.2",
    )


def _same_pairs() -> Positive:
    structs = pa.array([None if at % 5 == 1 else {"a": 5} for at in range(24)],
                       pa.struct([("a", pa.int16())]))  # fmt: skip
    pairs = pa.FixedSizeListArray.from_arrays(structs, 2)
    return Positive(
        id="file/2.2/constant/pairs-null",
        title="pairs of structs that are the same or null",
        clauses=("L.page.layout.scale",),
        make=file(column(pairs), "2.2"),
        version="2.2",
    )


def _text_pairs() -> Positive:
    structs = pa.array([{"s": "x" * at} for at in range(14)], pa.struct([("s", pa.string())]))
    pairs = pa.FixedSizeListArray.from_arrays(structs, 2)
    return Positive(
        id="file/2.2/fullzip/pairs-strings",
        title="zipped pairs of structs of strings",
        clauses=("L.page.layout.scale",),
        make=file(column(pairs, structural_encoding="fullzip"), "2.2"),
        version="2.2",
    )


def _one_packed() -> Positive:
    indices = blocks.flat([0, 0, 0], 8)
    page = chunked("2.1", indices[0], [Chunk(3, (indices[1],))],
                   dictionary=(blocks.out_of_line([5], 64), 1))  # fmt: skip
    return case("one-packed", "a dictionary of one item, in a whole block of packed ones", "2.1",
                pa.array([5, 5, 5], pa.int64()), [page],
                "L.codec.bitpack.out-of-line")  # fmt: skip


POSITIVES: tuple[Positive, ...] = (
    _text_pairs(),
    _one_packed(),
    _null_pairs(),
    _bare_frame(),
    _large(),
    _frame(),
    _blob_pairs(),
    _same_pairs(),
)
"""Every positive case of the least of a kind, by hand."""


def _later(message: ColumnMetadata) -> None:
    """Let the first page begin after the second."""
    message.pages[0].priority = 4


def _too_far(message: PlanarLayout) -> None:
    message.values.indexed.indices.delta.base = 2**32 - 1


_DELTA = "page 0.14"
"""The page whose indices are differences."""

NEGATIVES: tuple[Negative, ...] = (
    fault("file/2.0/binary/zstd-empty", "size", "a byte, where there is none",
          "L.array.flat.compressed-size", byte("field c", "uncompressed size", at=0, new=1)),
    fault("file/2.1/arms/two-pages", "falling", "a second page before the first",
          "L.file.pages.priority", column_edit(_later), kind="lint"),
    fault("file/2.1/arms/control-two", "width-three", "row numbers of three bytes",
          "L.page.rowindex.width", resize(1, 6)),
    fault("file/2.3/sequences/indices", "delta-next", "indices of 32 bits that go on to 2**32",
          "L.codec.delta.overflow", MessageEdit(_DELTA, _too_far)),
    fault("file/2.1/arms/far-codes", "code-next", "the first code without a symbol",
          "L.codec.fsst.code", byte("field c", "bytes", at=0, new=2)),
    fault("file/2.1/arms/bare-frame", "far", "a frame of as many bytes that stands for 52 million",
          "L.codec.general.size",
          SpanPatch(("field c", "compressed"), lambda old: _far())),
    replace(
        fault("file/2.1/general/zstd", "size-none", "a frame that is to hold nothing",
              "L.codec.general.size", SpanPatch(("field c", "uncompressed size"), bytes(8)))),
    fault("file/2.1/fsst/urls", "escape-last", "a last value that ends after an escape",
          "L.codec.fsst.escape", byte("field c", "bytes", at=-1, new=255, nth=5)),
)  # fmt: skip
"""Every fault of them."""

"""Cases of codecs of numbers: packed bits, runs, split bytes, general compression."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from lanceref.proto.encodings_v2_1_pb2 import (
    COMPRESSION_ALGORITHM_ZSTD,
    CompressiveEncoding,
    PageLayout,
)

from lance_conformance.recipes import blocks
from lance_conformance.recipes.columns import small_integers
from lance_conformance.recipes.constructors import case, cases, fault, faults
from lance_conformance.recipes.edits import M, V, assign, byte, clear, more, page
from lance_conformance.recipes.handmade_files import Page, by_hand
from lance_conformance.recipes.handmade_pages import array_blocks, chunk, mini_block, pair, table
from lance_conformance.recipes.model import Maker, Recipe, SpanPatch
from lance_conformance.recipes.oracle_made import column, file


def _nested(message: PageLayout) -> None:
    """Compress what is compressed, more often than messages may be nested."""
    values_ = message.mini_block_layout.value_compression
    for _ in range(120):
        outer = CompressiveEncoding()
        outer.general.compression.scheme = COMPRESSION_ALGORITHM_ZSTD
        outer.general.values.CopyFrom(values_)
        values_ = outer
    message.mini_block_layout.value_compression.CopyFrom(values_)


_PACKED_RUNS = f"{V}.rle.values.out_of_line_bitpacking"


def _blocks(bits: int, widths: range) -> Maker:
    """One chunk of two values for each width."""
    chunks = [chunk(blocks.inline(pair(width), bits)[1]) for width in widths]
    logs = [1] * (len(chunks) - 1) + [0]
    layout = mini_block(blocks.inline([0], bits)[0], 2 * len(widths), (1,))
    parts = (table(*zip(chunks, logs, strict=True)), b"".join(chunks))
    return by_hand(
        column(array_blocks(bits, widths)), "2.2", {0: [Page(layout, 2 * len(widths), parts)]}
    )


CASES: tuple[Recipe, ...] = (
    case("file/2.1/general/once", "values that are compressed once",
        ("L.codec.encoding.depth", "L.wire.message"),
        column(pa.array(np.arange(1500) % 977 * 65537, pa.int32()), compression="zstd", bss="off")),
    case("file/2.1/general/zstd", "value buffers as zstd frames after their size",
        "L.codec.general.frame",
        column(pa.array(np.arange(1500) % 977 * 65537, pa.int32()), compression="zstd", bss="off")),
    fault("size", "a frame of one byte more than told", "L.codec.general.size",
        more("field c", "uncompressed size", by=-1)),
    fault("frame", "the magic of a frame and no frame", "L.codec.general.frame",
        SpanPatch(("field c", "uncompressed size"), bytes.fromhex("28b52ffd")),
        flags="FrameBroken"),
    fault("nested", "values that are compressed 120 times", "L.file.pages.encoding", page(_nested),
        also="L.codec.encoding.depth"),
    fault("size-none", "a frame that is to hold nothing", "L.codec.general.size",
        SpanPatch(("field c", "uncompressed size"), bytes(8))),
    *cases("file/{2.1,2.2,2.3}/general/strings", "chunks of strings, compressed",
        "L.codec.general.frame", column(pa.array([f"aaaaaaaaaaaaaaa {i * 7919 % 100003}"
        for i in range(500)]), compression="zstd", dict_divisor="100000")),
    *faults("file/2.2/general/strings", fault("size", "strings of one byte less than told",
        "L.codec.general.size", more("field c", "uncompressed size"))),
    *cases("file/{2.1,2.2}/general/lz4", "value buffers as lz4 blocks", "L.codec.general.size",
        column(pa.array(np.arange(4000) % 977 * 65537, pa.int32()), compression="lz4", bss="off")),
    *faults("file/2.1/general/lz4",
        fault("size", "an lz4 size of 2**31", "L.codec.general.size",
            byte("field c", "uncompressed size", at=3, new=0x7F)),
        fault("scheme", "a compression scheme of no kind", "L.codec.general.scheme",
            assign(f"{V}.general.compression.scheme", 7))),
    case("file/2.1/byte-stream-split/float32", "floats in four streams, then zstd",
        "L.codec.byte-stream-split.size",
        column(pa.array(np.linspace(0, 1, 1500), pa.float32()), compression="zstd", bss="on")),
    fault("width", "streams of doubles", "L.codec.byte-stream-split.size",
        assign(f"{M}.value_compression.general.values.byte_stream_split.values.flat.bits_per_value",
            64), flags="WidthMismatch"),
    *cases("file/{2.1,2.2,2.3}/byte-stream-split/always",
        "floats split without being asked how they compress", "L.codec.byte-stream-split.size",
        column(pa.array(np.linspace(0, 1, 600), pa.float32()), bss="on", compression="lz4")),
    *faults("file/2.1/byte-stream-split/always",
        fault("width", "streams of 16 bits", "L.codec.encoding.context",
            assign(f"{V}.byte_stream_split.values.flat.bits_per_value", 16))),
    *cases("file/{2.1,2.2}/byte-stream-split/float64",
        "bytes of doubles in eight streams, then zstd", "L.codec.general.size",
        column(pa.array(np.linspace(0, 1, 2000)), compression="zstd", bss="on")),
    *faults("file/2.1/byte-stream-split/float64", fault("size", "a zstd size one value too small",
        "L.codec.general.size", SpanPatch(("field c", "uncompressed size"),
        lambda old: bytes([old[0] ^ 8]) + old[1:]))),
    case("file/2.3/rle/lz4-lengths", "runs whose lengths are compressed", "L.codec.rle.sum",
        column(pa.array(np.repeat(np.arange(50), 100), pa.int32()), compression="lz4", bss="off")),
    fault("scheme", "run lengths compressed by scheme 9", "L.codec.general.scheme",
        assign("values.chunked.compression.rle.run_lengths.general.compression.scheme", 9)),
    fault("more", "lengths of one byte less than their size", "L.codec.general.size",
        SpanPatch(("uncompressed size",),
            lambda old: (int.from_bytes(old, "little") + 1).to_bytes(len(old), "little"))),
    case("file/2.3/rle/packed-values", "runs whose values are bitpacked", "L.codec.rle.sum",
        pa.array(np.repeat(np.arange(900), 3), pa.int32())),
    case("file/2.1/rle/int16", "an odd number of runs", "L.codec.rle.pairs",
        pa.array(np.repeat(np.arange(25), 100), pa.int16())),
    fault("pairs", "a run without a length", "L.codec.rle.pairs",
        byte("chunk 0", "size of value buffer 1", at=0, new=26), flags="CountMismatch"),
    fault("packed-values", "packed run values in a 2.1 file", "L.codec.encoding.context",
        page({f"{_PACKED_RUNS}.uncompressed_bits_per_value": 16,
                f"{_PACKED_RUNS}.values.flat.bits_per_value": 5}), flags="GrammarOfAnotherVersion"),
    fault("wide", "run values of 128 bits", "L.codec.rle.children",
        assign("mini_block_layout.value_compression.rle.values.flat.bits_per_value", 128)),
    *cases("file/{2.1,2.2,2.3}/rle/int8", "runs of bytes", "L.codec.rle.pairs",
        pa.array(np.repeat(np.arange(10), 100), pa.int8())),
    *faults("file/2.2/rle/int8", fault("values", "runs of values of no bits",
        "L.codec.rle.children", assign(f"{V}.rle.values.flat.bits_per_value", 0))),
    *faults("file/2.3/rle/int8",
        fault("values", "runs of values of 264 bits", "L.codec.rle.children",
            assign("values.chunked.compression.rle.values.flat.bits_per_value", 264))),
    *cases("file/{2.1,2.2}/rle/int32", "runs of a hundred", "L.codec.rle.sum",
        pa.array(np.repeat(np.arange(50), 100), pa.int32())),
    *faults("file/2.1/rle/int32",
        fault("pairs", "one run length more than runs", "L.codec.rle.pairs",
            assign(f"{M}.value_compression.rle.values.flat.bits_per_value", 64)),
        fault("sum", "runs that do not add up", "L.codec.rle.sum",
            byte("field c", "run lengths", at=0, new=1)),
        fault("children", "run lengths of 16 bits", "L.codec.rle.children",
            assign(f"{V}.rle.run_lengths.flat.bits_per_value", 16))),
    *faults("file/2.2/rle/int32",
        fault("sum", "runs of one value less", "L.codec.rle.sum",
            more("field c", "run lengths", by=-1)),
        fault("lengths", "runs whose lengths have no codec", "L.codec.encoding.context",
            clear(f"{V}.rle.run_lengths"))),
    *(case(f"file/2.1/bitpack/{bits}", f"{bits}-bit integers below 100 in blocks of 1024",
        ("L.codec.bitpack.width", "L.codec.bitpack.payload"), file(column(small_integers(1500,
        getattr(pa, f"uint{bits}")(), 100)), "2.1")) for bits in (8, 16, 32, 64)),
    *(case(f"file/2.2/bitpack/{bits}", f"{bits}-bit integers below 100 in blocks of 1024",
        ("L.codec.bitpack.width", "L.codec.bitpack.payload"), file(column(small_integers(1500,
        getattr(pa, f"uint{bits}")(), 100)), "2.2")) for bits in (8, 16, 32, 64)),
    *(case(f"file/2.2/bitpack/widths-{bits}",
            f"blocks of {bits}-bit values, a chunk for each width 0 to {bits}",
            ("L.codec.bitpack.width", "L.codec.bitpack.payload"), _blocks(bits, range(bits + 1)),
            reachable=False) for bits in (8, 16, 32)),
    case("file/2.2/bitpack/widths-64", "blocks of 64-bit values, a chunk for each width 33 to 64",
        ("L.codec.bitpack.width", "L.codec.bitpack.payload"), _blocks(64, range(33, 65)),
        reachable=False),
    case("file/2.2/bitpack/widths-64-narrow",
        "blocks of 64-bit values, a chunk for each width 0 to 32", ("L.codec.bitpack.width",
        "L.codec.bitpack.payload"), _blocks(64, range(33)), reachable=False),
    *cases("file/{2.1,2.2}/bitpack/widths", "a width that grows from chunk to chunk",
        "L.codec.bitpack.width", pa.array(np.arange(3000) ** 2, pa.int32())),
    *faults("file/{2.1,2.3}/rle/int8",
        fault("sum", "runs of one value more", "L.codec.rle.sum", more("field c", "run lengths"))),
    *faults("file/2.1/bitpack/16",
        fault("width", "17 bits for values of 16", "L.codec.bitpack.width",
            byte("field c", "width", at=0, new=17)),
        fault("payload", "a width of one bit less than stored", "L.codec.bitpack.payload",
            more("field c", "width", by=-1))),
    *faults("file/2.2/bitpack/64", fault("width", "65 bits for values of 64",
        "L.codec.bitpack.width", byte("field c", "width", at=0, new=65))),
    *faults("file/2.2/bitpack/32", fault("payload", "a width of one bit more than stored",
        "L.codec.bitpack.payload", more("field c", "width"))),
    *faults("file/2.1/bitpack/32",
        fault("width", "a block of 33 bits for 32-bit values", "L.codec.bitpack.width",
            byte("field c", "width", at=0, new=33)),
        fault("payload", "a width that wants more bytes", "L.codec.bitpack.payload",
            byte("field c", "width", at=0, new=9))),
    *faults("file/2.1/bitpack/64", fault("payload", "a width that wants fewer bytes",
        "L.codec.bitpack.payload", byte("field c", "width", at=0, new=1))),
)  # fmt: skip

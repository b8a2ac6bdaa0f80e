"""Codecs of runs: the same buffer of many chunks is decoded at once.

Arrays of positions say where the buffers of all chunks lie in one block of bytes, so that whole
groups of chunks of equal layout are decoded together. What breaks a clause is only noticed here, as
`Unusual`: the plain form then decodes chunk after chunk and says what is wrong, and where.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs import general, nested, variable
from lanceref.codecs.bitpack import BLOCK, ROW_STARTS, Unsigned, unpack
from lanceref.codecs.buffers import has_payload, list_levels, value_bits
from lanceref.codecs.values import (
    Bytes,
    Fixed,
    FixedSizeList,
    Ints,
    Validity,
    Values,
    Variable,
    join_pieces,
    join_ranges,
)
from lanceref.core.context import Context
from lanceref.core.packed_values import concat_bits
from lanceref.fast.codecs import GROWTH, KERNEL_USE, decoded_strings
from lanceref.fast.files import Unusual, expect, gather_rows, groups, unpack_chunks
from lanceref.proto import encodings_v2_1_pb2 as pb


@dataclass(frozen=True, slots=True)
class ChunkRun:
    """Buffers of chunks: `starts` and `sizes` int64 (num_buffers, num_chunks) inside `data`.

    `counts` int64 (num_chunks,): values in each chunk (levels, in buffers of levels).
    """

    ctx: Context
    data: Bytes
    starts: Ints
    sizes: Ints
    counts: Ints

    @property
    def num_values(self) -> int:
        """Values in all chunks of the run."""
        return int(self.counts.sum())

    def counting(self, counts: Ints) -> ChunkRun:
        """Return the same buffers with other numbers of values. `counts` (num_chunks,)."""
        return replace(self, counts=counts)

    def buffers(self, kept: slice) -> ChunkRun:
        """Return the same chunks with some of their buffers."""
        return replace(self, starts=self.starts[kept], sizes=self.sizes[kept])

    def gather(self, buffer: int) -> Bytes:
        """Join one buffer of all chunks: uint8 (sum of sizes,); a view when there is one chunk."""
        starts, sizes = self.starts[buffer], self.sizes[buffer]
        if len(starts) == 1:
            return self.data[int(starts[0]) : int(starts[0] + sizes[0])]
        return join_pieces(self.data, starts, starts + sizes)


def has_run_form(encoding: pb.CompressiveEncoding) -> bool:
    """Return whether `decode_values` knows the codecs of chunk values."""
    match encoding.WhichOneof("compression"):
        case "flat" | "inline_bitpacking" | "byte_stream_split" | "packed_struct":
            return True
        case "fixed_size_list":
            *_, last = list_levels(encoding.fixed_size_list)
            return last.values.HasField("flat")
        case "general":
            return has_run_form(encoding.general.values)
        case "rle":
            children = encoding.rle.values, encoding.rle.run_lengths
            return all(child.HasField("flat") for child in children)
        case "fsst":
            return has_run_form(encoding.fsst.values)
        case "variable":
            return _has_integers(encoding.variable.offsets)
    return False


def _has_integers(encoding: pb.CompressiveEncoding) -> bool:
    """Return whether `decode_integers` knows the codec."""
    match encoding.WhichOneof("compression"):
        case "delta":
            deltas = encoding.delta.deltas
            return value_bits(deltas) == value_bits(encoding) and _has_integers(deltas)
        case "flat" | "out_of_line_bitpacking" | "constant" | "range":
            return bool(value_bits(encoding))
    return False


def decode_values(encoding: pb.CompressiveEncoding, run: ChunkRun) -> Values:
    """Decode the value buffers of every chunk, joined. Raises Unusual, BytesError."""
    match encoding.WhichOneof("compression"):
        case "flat":
            return _flat(run, encoding.flat.bits_per_value)
        case "inline_bitpacking":
            return _inline(run, encoding.inline_bitpacking.uncompressed_bits_per_value)
        case "byte_stream_split":
            return _streams(run, encoding.byte_stream_split.values.flat.bits_per_value)
        case "packed_struct":
            rows = _flat(run, encoding.packed_struct.values.flat.bits_per_value)
            return nested.split_rows(rows, encoding.packed_struct.bits_per_value)
        case "fixed_size_list":
            return _lists(encoding.fixed_size_list, run)
        case "general":
            return decode_values(encoding.general.values, _decompressed(encoding.general, run))
        case "rle":
            return _runs(encoding.rle, run)
        case "fsst":
            return _fsst(encoding.fsst, run)
        case "variable":
            return decode_strings(encoding.variable.offsets, run)
    raise Unusual


def decode_levels(encoding: pb.CompressiveEncoding, run: ChunkRun) -> Unsigned:
    """Decode buffer 0 of every chunk as levels, joined: (levels,).

    They are u8 when they are packed to one bit, u16 otherwise. Raises Unusual.
    """
    match encoding.WhichOneof("compression"):
        case "flat":
            return _flat(run, 16).data.view("<u2")
        case "inline_bitpacking":
            return _inline(run, 16).data.view("<u2")
        case "out_of_line_bitpacking":
            width = encoding.out_of_line_bitpacking.values.flat.bits_per_value
            if width == 1:
                return _out_of_line(run, 16, 1, np.dtype(np.bool_)).view(np.uint8)
            return _out_of_line(run, 16, width, np.dtype("<u2")).view("<u2")
        case "rle" if has_run_form(encoding):
            heads = gather_rows(run.data, run.starts[0], _room(run, 8))
            sizes = np.ascontiguousarray(heads).view("<i8")[:, 0]
            room, starts = run.sizes[0] - 8, run.starts[0] + 8
            expect((sizes >= 0) & (sizes <= room))
            starts, sizes = np.stack([starts, starts + sizes]), np.stack([sizes, room - sizes])
            return _runs(encoding.rle, replace(run, starts=starts, sizes=sizes)).data.view("<u2")
    raise Unusual


def _room(run: ChunkRun, size: int) -> int:
    """Return `size`, which buffer 0 of every chunk has."""
    expect(run.sizes[0] >= size)
    return size


def decode_integers(encoding: pb.CompressiveEncoding, run: ChunkRun) -> NDArray[np.uint64]:
    """Decode buffer 0 of every chunk, if it has one, as unsigned integers: (values,).

    Raises Unusual.
    """
    match encoding.WhichOneof("compression"):
        case "flat":
            bits = encoding.flat.bits_per_value
            return _flat(run, bits).data.view(f"<u{bits // 8}").astype(np.uint64)
        case "out_of_line_bitpacking":
            packed = encoding.out_of_line_bitpacking
            bits, width = packed.uncompressed_bits_per_value, packed.values.flat.bits_per_value
            return _out_of_line(run, bits, width, np.dtype(f"<u{bits // 8}")).astype(np.uint64)
        case "constant":
            value = int.from_bytes(encoding.constant.value, "little")
            return np.full(run.num_values, value, np.uint64)
        case "range":
            start, step = encoding.range.start, encoding.range.step
            expect(start + step * int(run.counts.max(initial=1)) < 2**31)
            return (start + step * _within(run.counts)).astype(np.uint64)
        case "delta":
            within = _within(run.counts)
            steps = np.zeros(len(within), np.uint64)
            deltas = decode_integers(encoding.delta.deltas, run.counting(run.counts - 1))
            expect(deltas < 2**31)
            steps[within > 0] = deltas
            sums = np.cumsum(steps, dtype=np.uint64)
            sums += np.uint64(encoding.delta.base) - np.repeat(sums[within == 0], run.counts)
            return sums
    raise Unusual


def _within(counts: Ints) -> Ints:
    """Return the number of every value inside its chunk."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _flat(run: ChunkRun, bits: int) -> Fixed:
    expect(run.sizes[0] == -(-run.counts * bits // 8))
    data = _join_bits(run) if bits == 1 else run.gather(0)
    return Fixed(bits, run.num_values, data)


def _join_bits(run: ChunkRun) -> Bytes:
    """Join the bitmaps of all chunks into one: uint8 (bytes,)."""
    joined = run.gather(0)
    if (run.counts[:-1] % 8 == 0).all():
        return joined
    return concat_bits(joined, np.zeros_like(run.counts), run.counts)


def _streams(run: ChunkRun, bits: int) -> Fixed:
    width = bits // 8
    expect(run.sizes[0] == run.counts * width)
    parts = [
        run.data[start : start + size].reshape(width, -1).T.reshape(-1)
        for start, size in zip(run.starts[0].tolist(), run.sizes[0].tolist())
    ]
    return Fixed(bits, run.num_values, np.concatenate(parts))


def _lists(encoding: pb.FixedSizeList, run: ChunkRun) -> FixedSizeList:
    count, size = run.num_values, encoding.items_per_value
    validity: Validity = None
    below = run.counting(run.counts * size)
    if encoding.has_validity:
        expect(below.sizes[0] == -(-below.counts // 8))
        bits = np.unpackbits(_join_bits(below), count=count * size, bitorder="little")
        validity, below = bits.view(np.bool_), below.buffers(slice(1, None))
    if encoding.values.HasField("fixed_size_list"):
        items = _lists(encoding.values.fixed_size_list, below)
        return FixedSizeList(count, size, validity, items)
    return FixedSizeList(count, size, validity, _flat(below, encoding.values.flat.bits_per_value))


def _decompressed(encoding: pb.General, run: ChunkRun) -> ChunkRun:
    """Return the run with buffer 0 of every chunk decompressed; the other buffers stay."""
    place = run.ctx.at(0)
    name, budget = general.codec_name(encoding, place), run.ctx.limits.expanded(len(run.data))
    view, parts = run.data.data, [run.data.tobytes() if len(run.starts) > 1 else b""]
    for start, size in zip(run.starts[0].tolist(), run.sizes[0].tolist()):
        parts.append(general.decompress(name, view[start : start + size], place, budget))
        budget -= len(parts[-1])
    lengths = np.array([*map(len, parts)], np.int64)
    starts, sizes = run.starts.copy(), run.sizes.copy()
    starts[0], sizes[0] = np.cumsum(lengths)[:-1], lengths[1:]
    data = np.frombuffer(b"".join(parts), np.uint8)
    return replace(run, data=data, starts=starts, sizes=sizes)


def _runs(encoding: pb.Rle, run: ChunkRun) -> Fixed:
    """Decode runs: their flat values in buffer 0, their flat lengths in buffer 1."""
    children = encoding.values, encoding.run_lengths
    bits, length_bits = (child.flat.bits_per_value for child in children)
    runs = run.sizes[0] * 8 // bits
    expect(runs == run.sizes[1] * 8 // length_bits)
    values = _flat(run.counting(runs), bits)
    lengths = _flat(run.buffers(slice(1, 2)).counting(runs), length_bits)
    sizes = lengths.data.view(f"<u{length_bits // 8}")
    ends = np.append(0, np.cumsum(sizes, dtype=np.int64))
    expect(np.diff(ends[np.append(0, np.cumsum(runs))]) == run.counts)
    data = np.repeat(values.data.view(f"<u{bits // 8}"), sizes).view(np.uint8)
    return Fixed(bits, run.num_values, data)


def _inline(run: ChunkRun, bits: int) -> Fixed:
    """Decode one block per chunk, each with its own width."""
    widths = inline_widths(run, bits)
    out = np.empty((len(widths), BLOCK), f"<u{bits // 8}")
    unpack_chunks(run.data, run.starts[0] + out.itemsize, widths, out)
    values = out.reshape(-1)[: run.num_values]
    if (run.counts[:-1] != BLOCK).any():
        starts = np.arange(len(out)) * BLOCK
        values = join_ranges(out.reshape(-1), starts, starts + run.counts)
    return Fixed(bits, run.num_values, values.view(np.uint8))


def inline_widths(run: ChunkRun, bits: int) -> Ints:
    """Return the width of every chunk's block, at most `bits`: (num_chunks,). Raises Unusual."""
    word_bytes = bits // 8
    words = gather_rows(run.data, run.starts[0], _room(run, word_bytes))
    widths = np.ascontiguousarray(words).view(f"<u{word_bytes}").reshape(-1)
    expect((run.counts <= BLOCK) & (widths <= bits))
    widths = widths.astype(np.int64)
    expect(run.sizes[0] == word_bytes + widths * (BLOCK // 8))
    return widths


def _out_of_line(
    run: ChunkRun, bits: int, width: int, dtype: np.dtype[np.generic]
) -> NDArray[np.generic]:
    """Decode whole blocks of one width and a tail per chunk, into words or (width 1) booleans."""
    (full, tail), sizes = np.divmod(run.counts, BLOCK), run.sizes[0]
    block_bytes, word = width * BLOCK // 8, f"<u{bits // 8}"
    is_raw = sizes == full * block_bytes + tail * (bits // 8)
    num_blocks = full + ((tail > 0) & ~is_raw)
    expect(is_raw | (sizes == num_blocks * block_bytes))
    if dtype == np.bool_ and KERNEL_USE.use(run.num_values):
        from lanceref.fast import compiled as kernel

        flags = np.empty(run.num_values + BLOCK, np.uint8)
        expect(kernel.unpack_flags(run.data, run.starts[0], num_blocks, run.counts, flags))
        return flags[: run.num_values].view(np.bool_)
    ends = np.cumsum(num_blocks)
    out = np.empty((int(ends[-1]), BLOCK), dtype)
    # chunks with as many blocks are unpacked together
    for number, chunks in groups(num_blocks):
        packed = gather_rows(run.data, run.starts[0][chunks], number * block_bytes)
        rows = ((ends - num_blocks)[chunks][:, None] + np.arange(number)).reshape(-1)
        packed = np.ascontiguousarray(packed).reshape(-1).view(word)
        packed = packed.reshape(len(rows), width * BLOCK // bits)
        target = out if len(rows) == len(out) else np.empty((len(rows), BLOCK), dtype)
        if dtype == np.bool_:
            for row in range(bits):
                lanes = slice(ROW_STARTS[row], ROW_STARTS[row] + BLOCK // bits)
                np.not_equal(packed & np.uint16(1 << row), 0, out=target[:, lanes])
        else:
            unpack(packed, width, target)
        if target is not out:
            out[rows] = target
    tails = np.where(is_raw, tail, 0)
    stops = run.starts[0] + sizes
    raw = join_pieces(run.data, stops - tails * (bits // 8), stops).view(word)
    starts = (ends - num_blocks) * BLOCK
    if not len(raw):
        return join_ranges(out.reshape(-1), starts, starts + run.counts)
    expect(int(raw.max()) >> width == 0)
    # of each chunk its blocks, then its raw tail
    joined, raw_ends = np.append(out.reshape(-1), raw.astype(dtype)), out.size + np.cumsum(tails)
    firsts = np.stack([starts, raw_ends - tails], axis=1).reshape(-1)
    lasts = np.stack([starts + run.counts - tails, raw_ends], axis=1).reshape(-1)
    size = dtype.itemsize
    return join_pieces(joined.view(np.uint8), firsts * size, lasts * size).view(dtype)


def decode_strings(offsets: pb.CompressiveEncoding, run: ChunkRun) -> Variable:
    """Decode strings whose offsets are a table before the bytes, or blocks of their own.

    Raises Unusual.
    """
    if offsets.HasField("flat"):
        return _after_tables(run, offsets.flat.bits_per_value // 8)
    counts, sizes, starts = run.counts + 1, run.sizes[-1], run.starts[-1]
    if not has_payload(offsets) and len(run.starts) > 1:
        raise Unusual
    decoded = decode_integers(offsets, run.counting(counts)).astype(np.int64)
    ends, inner = np.cumsum(counts), np.ones(len(decoded) + 1, np.bool_)
    inner[ends - 1] = False
    expect((decoded[ends - counts] == 0) & (decoded[ends - 1] == sizes))
    lengths = np.diff(decoded, append=0)[inner[:-1]]
    expect(lengths >= 0)
    return Variable(np.append(0, np.cumsum(lengths)), join_pieces(run.data, starts, starts + sizes))


def _after_tables(run: ChunkRun, width: int) -> Variable:
    """Decode buffer 0 of every chunk: a table of offsets, then bytes."""
    starts, sizes, tables = run.starts[0], run.sizes[0], (run.counts + 1) * width
    expect(sizes >= tables)
    last, ends = np.empty(len(starts), np.int64), [np.zeros(1, np.int64)] * (len(starts) + 1)
    parts = []
    for count, chunks in groups(run.counts):
        table = gather_rows(run.data, starts[chunks], (count + 1) * width)
        offsets = np.ascontiguousarray(table).view(f"<u{width}")
        expect(offsets[:, 0] == (count + 1) * width)
        expect(offsets[:, 1:] >= offsets[:, :-1])
        expect(offsets[:, -1] <= sizes[chunks].astype(np.uint64))
        last[chunks] = offsets[:, -1]
        parts.append((chunks, offsets[:, 1:].view("<i8") if width == 8 else offsets[:, 1:]))
    moved = np.cumsum(last - tables) - last
    for chunks, table in parts:
        for chunk, own in zip(chunks.tolist(), table + moved[chunks, None]):
            ends[chunk + 1] = own
    return Variable(np.concatenate(ends), join_pieces(run.data, starts + tables, starts + last))


def _fsst(encoding: pb.Fsst, run: ChunkRun) -> Variable:
    """Decode coded strings, in one pass where there is a kernel for it."""
    counts, sizes, place = run.counts, run.sizes[0], run.ctx.at(0)
    table = variable.parse_symbol_table(encoding.symbol_table, place)
    size_bytes = (int(sizes.sum()) - 4 * run.num_values) * GROWTH
    has_tables = encoding.values.variable.offsets.flat.bits_per_value == 32
    has_tables = has_tables and (sizes >= (counts + 1) * 4).all()
    if table.is_on and has_tables and KERNEL_USE.use(size_bytes):
        from lanceref.fast import compiled as kernel

        symbols, data, starts = table.symbols, run.data, run.starts[0]
        decoded = kernel.decode_chunks(symbols, table.lengths, data, starts, sizes, counts)
        if decoded is not None:
            return decoded_strings(*decoded)
    codes = decode_strings(encoding.values.variable.offsets, run)
    return variable.decode_codes(table, codes, place)

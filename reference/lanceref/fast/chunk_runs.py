"""Fast forms of mini-block chunks: many are decoded at once; importing this module registers them.

Of a take, single values are found by their numbers without the others. Where bytes are unusual
(`run_codecs`), the plain form decodes chunk after chunk.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs import variable
from lanceref.codecs.bitpack import BLOCK, ROW_STARTS
from lanceref.codecs.values import Bytes, Fixed, Ints, Values, Variable
from lanceref.core.cursor import read_extents
from lanceref.core.errors import BytesError
from lanceref.core.integers import arrow_array
from lanceref.fast import run_codecs
from lanceref.fast.files import Unusual, expect, gather_rows, join_pieces
from lanceref.pages import miniblock
from lanceref.pages.chunks import ChunkTable, padded
from lanceref.pages.layers import LEVEL_BYTES, Levels, check_ranges, count_before
from lanceref.pages.miniblock import ChunkRows, DecodedChunks, with_starts
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


@dataclass(frozen=True, slots=True)
class DecodedRun(DecodedChunks):
    """Chunks with decoded levels whose values lie in one run."""

    run: run_codecs.ChunkRun


@miniblock.decode_chunks.replaced_by
def decode_chunks(rows: ChunkRows, numbers: Ints) -> DecodedChunks:
    """Read chunks, near ones with one request, and decode their levels together.

    `numbers` (chunks,).
    """
    ctx = rows.file.ctx
    if ctx.spans is None and not ctx.validating and run_codecs.has_run_form(rows.mini.values):
        chosen, clause = rows.table.choose(numbers), "L.page.miniblock.chunk-bytes"
        data, at = read_extents(rows.file, chosen.starts, chosen.sizes, "chunks", clause)
        with suppress(Unusual, BytesError):
            return decode_run(rows, chosen, data, at)
    return miniblock.decode_chunks.plain(rows, numbers)


def decode_run(rows: ChunkRows, chosen: ChunkTable, data: Bytes, at: Ints) -> DecodedRun:
    """Decode the levels of chunks that lie at the positions `at` (chunks,) of `data`.

    Raises Unusual, BytesError.
    """
    mini, layers = rows.mini, rows.layers
    run, counts = _parse_headers(rows, chosen, data, at)
    values = run.buffers(slice(mini.num_levels, None))
    place, count, rep, definition = rows.file.ctx.at(*chosen.extent), int(counts.sum()), None, None
    stored = run.counting(counts)
    if mini.num_levels:
        rows.file.bound_output(count * LEVEL_BYTES, "L.page.limits.levels", place, "levels")
    if mini.rep is not None:
        rep = run_codecs.decode_levels(mini.rep, stored)
    if mini.definition is not None:
        own = stored.buffers(slice(mini.num_levels - 1, None))
        definition = run_codecs.decode_levels(mini.definition, own)
    levels = Levels(count, rep, definition)
    check_ranges(levels, layers, place)
    visible, first_entry = levels.visible(layers), counts.cumsum() - counts
    if visible is not None:
        counts = np.diff(count_before(visible, np.append(first_entry, count)))
    expect(counts == chosen.counts)
    levels = with_starts(rows, chosen.numbers, levels, first_entry)
    return DecodedRun(chosen.numbers, (), levels, first_entry, place, values)


def _parse_headers(
    rows: ChunkRows, chosen: ChunkTable, data: Bytes, at: Ints
) -> tuple[run_codecs.ChunkRun, Ints]:
    """Parse the headers of chunks: their buffers as one run, and the entries of each (chunks,)."""
    mini, header = rows.mini, padded(rows.mini.header_bytes)
    expect(chosen.sizes >= header)
    table, words = gather_rows(data, at, header), 1 + mini.num_levels
    short = table.view("<u2")[:, :words].astype(np.int64)
    values = np.ascontiguousarray(table[:, 2 * words : mini.header_bytes])
    sizes = np.empty((mini.num_levels + mini.num_buffers, len(at)), np.int64)
    sizes[: mini.num_levels] = short[:, 1:].T
    sizes[mini.num_levels :] = values.view("<u4" if mini.wide else "<u2").T
    ends = np.cumsum(padded(sizes), axis=0) + header
    expect(ends[-1] == chosen.sizes)
    counts, stored = chosen.counts, short[:, 0]
    if mini.rep is not None:
        expect(stored >= np.maximum(counts, 1))
    else:
        expect(stored == (counts if mini.num_levels else 0))
    run = run_codecs.ChunkRun(rows.file.ctx, data, ends - padded(sizes) + at, sizes, counts)
    return run, stored if mini.num_levels else counts


@miniblock.decode_leaf.replaced_by
def decode_leaf(rows: ChunkRows, decoded: DecodedChunks) -> pa.Array:
    """Decode the values of chunks together: one for each visible entry."""
    if isinstance(decoded, DecodedRun):
        if not decoded.run.num_values:
            return pa.nulls(0, rows.type)
        with suppress(Unusual, BytesError):
            values = run_codecs.decode_values(rows.mini.values, decoded.run)
            validity = decoded.levels.leaf_validity(rows.layers)
            leaf = miniblock.leaf_or_keys(rows, values, validity, decoded.place)
            return miniblock.with_items(rows, leaf)
        decoded = miniblock.decode_chunks.plain(rows, decoded.numbers)
    return miniblock.decode_leaf.plain(rows, decoded)


@miniblock.take_leaf.replaced_by
def take_leaf(rows: ChunkRows, decoded: DecodedChunks, slots: Ints) -> pa.Array:
    """Decode the values of some slots of the visible entries of chunks. `slots` (n,)."""
    if isinstance(decoded, DecodedRun) and decoded.run.num_values:
        with suppress(Unusual, BytesError):
            validity = decoded.levels.leaf_validity(rows.layers)
            own_validity = None if validity is None else validity[slots]
            values = pick(rows.mini.values, decoded.run, slots)
            if values is not None:
                leaf = miniblock.leaf_or_keys(rows, values, own_validity, decoded.place)
                return miniblock.with_items(rows, leaf)
            if rows.items is not None:
                values = run_codecs.decode_values(rows.mini.values, decoded.run)
                keys = miniblock.leaf_or_keys(rows, values, validity, decoded.place)
                return miniblock.with_items(rows, keys.take(arrow_array(slots)))
    return miniblock.take_leaf.plain(rows, decoded, slots)


def pick(encoding: CompressiveEncoding, run: run_codecs.ChunkRun, slots: Ints) -> Values | None:
    """Return the values of the run with the numbers `slots` (n,), ascending, without the others.

    Plain values and packed blocks let each be found by its number; of coded strings the offsets
    do. None for codecs whose values cannot be found singly.
    """
    if encoding.HasField("fsst"):
        offsets = encoding.fsst.values.variable.offsets
        codes, place = run_codecs.decode_strings(offsets, run), run.ctx.at(0)
        table = variable.parse_symbol_table(encoding.fsst.symbol_table, place)
        return variable.decode_codes(table, _chosen(codes, slots), place)
    ends = np.cumsum(run.counts)
    chunks = np.searchsorted(ends, slots, "right")
    at = slots - (ends - run.counts)[chunks]
    if encoding.HasField("flat"):
        return _pick_flat(run, encoding.flat.bits_per_value, chunks, at)
    if encoding.HasField("inline_bitpacking"):
        bits = encoding.inline_bitpacking.uncompressed_bits_per_value
        return _pick_packed(run, bits, chunks, at)
    return None


def _chosen(values: Variable, at: Ints) -> Variable:
    """Return some of the values, copied. `at` (n,)."""
    starts, ends = values.offsets[at], values.offsets[at + 1]
    data = join_pieces(np.ascontiguousarray(values.data), starts, ends)
    return Variable(np.append(0, np.cumsum(ends - starts)), data)


def _pick_flat(run: run_codecs.ChunkRun, bits: int, chunks: Ints, at: Ints) -> Fixed:
    expect(run.sizes[0] == -(-run.counts * bits // 8))
    starts = run.starts[0][chunks]
    if bits == 1:
        flags = run.data[starts + at // 8] >> (at % 8).astype(np.uint8) & np.uint8(1)
        return Fixed(1, len(at), np.packbits(flags, bitorder="little"))
    size = bits // 8
    return Fixed(bits, len(at), gather_rows(run.data, starts + at * size, size).reshape(-1))


def _pick_packed(run: run_codecs.ChunkRun, bits: int, chunks: Ints, at: Ints) -> Fixed:
    """Find each value in one word of its block, or in two words of a lane."""
    size, lanes = bits // 8, BLOCK // bits
    row_of, row_starts, masks = _rows_of(bits)
    rows, width = row_of[at], run_codecs.inline_widths(run, bits)[chunks]
    word, shift = np.divmod(rows * width, bits)
    inside = size + (word * lanes + at - row_starts[rows]) * size
    places = run.starts[0][chunks] + np.where(width > 0, inside, 0)
    over = shift + width > bits
    values = _words_at(run.data, places, size) >> shift.astype(np.uint64)
    high = _words_at(run.data, places[over] + lanes * size, size)
    values[over] |= high << (bits - shift[over]).astype(np.uint64)
    values &= masks[width]
    return Fixed(bits, len(at), values.astype(f"<u{size}").view(np.uint8))


@lru_cache
def _rows_of(bits: int) -> tuple[Ints, Ints, NDArray[np.uint64]]:
    """Return the row of each value of a block of words of `bits`, where rows start, and masks."""
    starts = np.array(ROW_STARTS[:bits])
    rows = np.empty(BLOCK, np.int64)
    rows[starts[:, None] + np.arange(BLOCK // bits)] = np.arange(bits)[:, None]
    return rows, starts, np.array([(1 << width) - 1 for width in range(65)], np.uint64)


def _words_at(data: Bytes, places: Ints, size: int) -> NDArray[np.uint64]:
    return gather_rows(data, places, size).view(f"<u{size}").reshape(-1).astype(np.uint64)

"""Sequences that need few bytes or none: runs, and in 2.3 constant, range, delta, dictionary.

Run-length encoding has values, and the lengths of their runs, which end with the chunk; releases up
to 8.0.0 wrote last runs that are too long. Up to 2.2 both are flat, lengths of one byte; in 2.3
both are coded by children of their own. What needs no
bytes lies wholly in the description and has no buffer: a constant, a range, and what is made of
them alone. The dictionary is not that of a mini-block page, which is a buffer of the page.

Layout of runs in a chunk: buffer 0 the run values, buffer 1 the run lengths.
Layout of runs as a block: u64 size of the values, the values, the lengths.
Layout of a dictionary: u64 size of the indices, u64 size of the items, the indices, the items; each
a block of its own.

Clauses: L.codec.sequence.width, L.codec.range.step, L.codec.dictionary.num-items, L.codec.rle.sum,
L.codec.rle.pairs, L.codec.rle.end, L.codec.rle.frame, L.codec.rle.empty-run, L.codec.rle.children,
L.codec.constant.width, L.codec.range.overflow, L.codec.delta.overflow, L.codec.dictionary.frame,
L.codec.dictionary.index-range
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.bitpack import WIDTHS as PACKED_WIDTHS
from lanceref.codecs.bitpack import Unsigned
from lanceref.codecs.buffers import (
    Buffer,
    MiniBlocks,
    Part,
    flat_encoding,
    only_flat,
    value_bits,
    want_arm,
    weave,
)
from lanceref.codecs.values import Fixed, Ints
from lanceref.core.errors import CorruptPage, Place
from lanceref.core.file_versions import V2_3, FileVersion
from lanceref.proto import encodings_v2_1_pb2 as pb

WIDTHS = (32, 64)
"""Bits of a value of a range or a delta."""

CONSTANT_BYTES = (0, 4, 8)
"""Sizes of a constant; none for an empty sequence."""


RUNS = ("flat", "out_of_line_bitpacking", "general", "constant", "range")
"""What run values and run lengths may be coded by in 2.3."""


def check_runs(encoding: pb.Rle, version: FileVersion, place: Place) -> None:
    """Check runs, which are of words; before 2.3 they are flat values with u8 lengths.

    Raises UnknownEncoding, CorruptPage.
    """
    values, lengths = encoding.values, encoding.run_lengths
    for child in (values, lengths):
        if version < V2_3:
            only_flat(child, place)
        want_arm(child, RUNS, place)
    width, length_width = value_bits(values) or 0, value_bits(lengths)
    widths = (8,) if version < V2_3 else (8, 16, 32)
    if width not in PACKED_WIDTHS or length_width not in widths:
        found = f"values of {width} bits, lengths of {length_width}"
        raise CorruptPage("L.codec.rle.children", place, found, f"lengths of {widths}")


def check_sequence(encoding: pb.CompressiveEncoding, arm: str, place: Place) -> None:
    """Check the arms that hold a sequence of words or of its items. Raises CorruptPage."""
    bits = value_bits(encoding)
    if arm == "constant":
        if len(encoding.constant.value) not in CONSTANT_BYTES:
            raise CorruptPage("L.codec.constant.width", place, f"{bits} bits", "4 or 8 bytes")
    elif arm == "dictionary":
        if not encoding.dictionary.num_dictionary_items:
            raise CorruptPage("L.codec.dictionary.num-items", place, 0, "1 or more")
    elif bits not in WIDTHS:
        raise CorruptPage("L.codec.sequence.width", place, f"{bits} bits", "32 or 64 bits")
    elif arm == "range" and not encoding.range.step:
        raise CorruptPage("L.codec.range.step", place, 0, "a step above 0")


def range_encoding(bits: int, start: int, step: int) -> pb.CompressiveEncoding:
    """Return the description of values of `bits` bits that grow by one step."""
    counted = {"uncompressed_bits_per_value": bits, "start": start, "step": step}
    return pb.CompressiveEncoding(range=counted)


def delta_encoding(bits: int, base: int, deltas: pb.CompressiveEncoding) -> pb.CompressiveEncoding:
    """Return the description of values of `bits` bits by the first of them and the differences."""
    delta = {"uncompressed_bits_per_value": bits, "base": base, "deltas": deltas}
    return pb.CompressiveEncoding(delta=delta)


def decode_constant(encoding: pb.Constant, count: int, place: Place) -> Fixed:
    """Repeat the value `count` times. Raises CorruptPage."""
    width = len(encoding.value)
    if width == 0 and count:
        raise CorruptPage("L.codec.constant.width", place, "no value", "one")
    return Fixed(8 * width, count, np.tile(np.frombuffer(encoding.value, np.uint8), count))


def decode_range(encoding: pb.Range, count: int, place: Place) -> Fixed:
    """Count from `start` by `step`. Raises CorruptPage."""
    last = encoding.start + encoding.step * max(0, count - 1)
    values = np.arange(count, dtype=np.uint64) * np.uint64(encoding.step)
    values += np.uint64(encoding.start)
    bits = encoding.uncompressed_bits_per_value
    return _words("L.codec.range.overflow", values, bits, last, place)


def decode_delta(encoding: pb.Delta, deltas: NDArray[np.uint64], count: int, place: Place) -> Fixed:
    """Add up the differences after the base. `deltas` (count - 1,). Raises CorruptPage."""
    values = np.empty(count, np.uint64)
    values[:1], values[1:] = encoding.base, deltas
    values = np.cumsum(values, dtype=np.uint64)
    wrapped = (values[1:] < values[:-1]).any()
    last = 2**64 if wrapped else int(values.max(initial=0))
    bits = encoding.uncompressed_bits_per_value
    return _words("L.codec.delta.overflow", values, bits, last, place)


def _words(clause: str, values: NDArray[np.uint64], bits: int, last: int, place: Place) -> Fixed:
    if last >> bits:
        raise CorruptPage(clause, place, last, f"values of {bits} bits")
    return Fixed(bits, len(values), values.astype(f"<u{bits // 8}").view(np.uint8))


def split_frame(buffer: Buffer, names: Sequence[str], clause: str) -> list[Buffer]:
    """Return the parts whose u64 sizes begin the buffer, and the rest. Raises CorruptPage."""
    at = 8 * len(names)
    sizes: list[int] = buffer.data[:at].view("<u8").tolist() if buffer.size >= at else []
    if buffer.size < at + sum(sizes):
        found, wanted = f"{buffer.size} bytes", f"{at} bytes of sizes, and parts of {sizes}"
        raise CorruptPage(clause, buffer.place, found, wanted)
    parts = []
    for number, (name, size) in enumerate(zip(names, sizes)):
        buffer.own(f"size of {name}", "u64", clause, size, start=8 * number, end=8 * number + 8)
        parts.append(buffer.part(at, at + size))
        at += size
    return [*parts, buffer.part(at)]


def split_dictionary(buffer: Buffer) -> tuple[Buffer, Buffer]:
    """Return the buffers of the indices and of the items. Raises CorruptPage."""
    clause = "L.codec.dictionary.frame"
    indices, items, rest = split_frame(buffer, ("indices", "items"), clause)
    if rest.size:
        raise CorruptPage(clause, buffer.place, f"{rest.size} bytes after the items", "none")
    return indices, items


def look_up(indices: NDArray[np.uint64], items: Fixed, place: Place) -> Fixed:
    """Return the items that the indices name. `indices` (n,). Raises CorruptPage."""
    largest, clause = int(indices.max(initial=0)), "L.codec.dictionary.index-range"
    if len(indices) and largest >= items.count:
        raise CorruptPage(clause, place, largest, f"indices below {items.count}")
    cells = items.data.reshape(items.count, items.bits // 8)[indices.astype(np.int64)]
    return Fixed(items.bits, len(indices), cells.reshape(-1))


RUNS_HEADER_BYTES = 8
"""Bytes before the runs of a block."""

MAX_RUN = 255
"""Longest run of one byte."""

NO_CUTS: Ints = np.zeros(0, np.int64)
"""No places where runs must be cut."""


def expand_runs(
    values: Fixed, lengths: NDArray[np.uint64], count: int, stored_lengths: Buffer
) -> Fixed:
    """Repeat each of `values` by its length (runs,), to `count` values in all.

    Values past the count are left out. Raises CorruptPage when there are fewer.
    """
    place, ctx = stored_lengths.place, stored_lengths.ctx
    ends = np.cumsum(np.minimum(lengths, np.uint64(count + 1)).astype(np.int64))
    total = int(ends[-1]) if len(ends) else 0
    found, wanted = (f"{number} values in all runs" for number in (total, count))
    if total < count:
        raise CorruptPage("L.codec.rle.sum", place, found, wanted)
    if total > count:
        ctx.lint("L.codec.rle.end", place, found, wanted, severity="should")
    if not lengths.all():
        clause, wanted = "L.codec.rle.empty-run", "one value or more"
        ctx.lint(clause, place, 0, wanted, severity="should")
    width = values.bits // 8
    cells = values.data.view(f"<u{width}" if width in (1, 2, 4, 8) else f"V{width}")
    repeats = np.diff(np.minimum(ends, count), prepend=0)
    return Fixed(values.bits, count, np.repeat(cells, repeats).view(np.uint8))


def computed_runs(lengths: pb.CompressiveEncoding, count: int, place: Place) -> int:
    """Return how many runs make up `count` values when the description holds their lengths.

    Lengths are a range or a constant. Raises CorruptPage unless the first few add up to `count`.
    """
    if lengths.WhichOneof("compression") == "range":
        length, step = lengths.range.start, lengths.range.step
    else:
        length, step = int.from_bytes(lengths.constant.value, "little"), 0
    runs = total = 0
    if length and not step:
        runs = -(-count // length)
        total = runs * length
    while step and total < count:
        runs, total, length = runs + 1, total + length, length + step
    if total != count:
        found, wanted = (f"{number} values in all runs" for number in (total, count))
        raise CorruptPage("L.codec.rle.sum", place, found, wanted)
    return runs


def starts_of(values: Unsigned, cuts: Ints = NO_CUTS) -> Ints:
    """Return where runs begin, at the positions `cuts` in any case; the first is 0.

    `values` (n,), `cuts` (m,), the result (runs,).
    """
    begins = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    begins[cuts[cuts < len(values)]] = True
    return np.flatnonzero(begins)


def runs_of(values: Unsigned, cuts: Ints) -> tuple[Unsigned, Ints]:
    """Return value and length of the runs of `values`, cut also at `cuts`, at most 255 long.

    `values` (n,), `cuts` (m,); both results (runs,).
    """
    starts = starts_of(values, cuts)
    lengths = np.diff(starts, append=len(values))
    if not len(lengths) or lengths.max() <= MAX_RUN:
        return values[starts], lengths
    pieces = -(-lengths // MAX_RUN)
    cut = np.full(int(pieces.sum()), MAX_RUN, np.int64)
    cut[np.cumsum(pieces) - 1] = lengths - (pieces - 1) * MAX_RUN
    return np.repeat(values[starts], pieces), cut


def rle_encoding(bits: int) -> pb.CompressiveEncoding:
    """Return the description of plain values and lengths of one byte."""
    rle = {"values": flat_encoding(bits), "run_lengths": flat_encoding(8)}
    return pb.CompressiveEncoding(rle=rle)


def encode_runs(values: Unsigned, counts: Ints, cuts: Ints = NO_CUTS) -> MiniBlocks:
    """Encode chunks of `counts` values: run values in one buffer, lengths in the other.

    Runs are cut also at the positions `cuts`. `values` (n,), `counts` (chunks,).
    """
    ends = np.cumsum(counts)
    run_values, lengths = runs_of(values, np.append(ends - counts, cuts))
    run_ends = np.searchsorted(np.cumsum(lengths), ends, side="left") + 1
    per_chunk = np.diff(run_ends, prepend=0)
    width = values.dtype.itemsize
    stored = np.ascontiguousarray(run_values).view(np.uint8), per_chunk * width
    buffers = stored, (lengths.astype(np.uint8), per_chunk)
    return MiniBlocks(rle_encoding(8 * width), counts, buffers)


def encode_run_blocks(values: Unsigned, counts: Ints) -> Part:
    """Encode chunks of `counts` values: size of the run values, run values, lengths.

    `values` (n,), `counts` (chunks,).
    """
    stored, lengths = encode_runs(values, counts).buffers
    header = stored[1].astype("<u8").view(np.uint8), np.full(len(counts), RUNS_HEADER_BYTES)
    return weave([header, stored, lengths])

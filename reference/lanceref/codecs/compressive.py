"""Compressive encodings: the codec that a message asks for, for values in chunks and zipped ones.

A page's description nests `CompressiveEncoding` messages. *Mini* decodes the value buffers of many
chunks, and can pick single values; *zip* decodes values that were cut one by one. What one buffer
holds by itself is a block (see `blocks`).

Clauses: L.codec.encoding.context, L.codec.flat.size
"""

from __future__ import annotations

import numpy as np

from lanceref.codecs import (
    bitpack,
    fixed_size_list,
    flat,
    fsst,
    general,
    packed_struct,
    variable,
)
from lanceref.codecs.blocks import decode_rle, integers
from lanceref.codecs.chunks import ChunkRun
from lanceref.codecs.description_checks import has_payload, only_flat, unsupported
from lanceref.codecs.values import Bytes, Fixed, Ints, Rows, Values, Variable
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, Place
from lanceref.core.plain import specified
from lanceref.proto import encodings_v2_1_pb2 as pb
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding


def num_buffers(encoding: CompressiveEncoding) -> int:
    """Return the value buffers of a mini-block chunk."""
    match encoding.WhichOneof("compression"):
        case "general" | "fsst" as arm:
            return num_buffers(getattr(encoding, arm).values)
        case "rle":
            return 2
        case "fixed_size_list":
            levels = fixed_size_list.levels(encoding.fixed_size_list)
            return 1 + sum(level.has_validity for level in levels)
        case "variable" if not encoding.variable.offsets.HasField("flat"):
            return 1 + has_payload(encoding.variable.offsets)
    return 1


def decode_mini(encoding: CompressiveEncoding, run: ChunkRun) -> Values:
    """Decode the value buffers of every chunk of the run, joined. Raises UnknownEncoding."""
    match encoding.WhichOneof("compression"):
        case "flat":
            return flat.decode(run, encoding.flat.bits_per_value)
        case "inline_bitpacking":
            return bitpack.decode_inline(
                run, encoding.inline_bitpacking.uncompressed_bits_per_value
            )
        case "variable":
            return decode_variable(encoding.variable.offsets, run, "bytes[]")
        case "fsst":
            return decode_fsst(encoding.fsst, run)
        case "rle":
            return decode_rle(encoding.rle, run)
        case "byte_stream_split":
            bits = only_flat(encoding.byte_stream_split.values, run.place())
            return flat.decode_streams(run, bits)
        case "general":
            name = general.codec_name(encoding.general, run.place())
            return decode_mini(encoding.general.values, general.decompress_run(name, run))
        case "fixed_size_list":
            return fixed_size_list.decode_mini(encoding.fixed_size_list, run)
        case "packed_struct":
            packed = encoding.packed_struct
            rows = flat.decode(run, packed.values.flat.bits_per_value, "packed rows")
            return packed_struct.split(rows, packed.bits_per_value)
    raise unsupported(encoding, "a mini-block chunk", run.place())


@specified
def decode_fsst(encoding: pb.Fsst, run: ChunkRun) -> Variable:
    """Decode coded strings of every chunk of the run, joined."""
    codes = decode_variable(encoding.values.variable.offsets, run, fsst.CODES)
    return fsst.decode(fsst.parse_table(encoding.symbol_table, run.place()), codes, run.place())


def decode_variable(offsets: CompressiveEncoding, run: ChunkRun, kind: str) -> Variable:
    """Decode strings whose offsets are a table before the bytes, or blocks of their own."""
    if offsets.WhichOneof("compression") == "flat":
        return variable.decode_mini(run, offsets.flat.bits_per_value, kind)
    table = run.only(0) if has_payload(offsets) else run.without_buffers()
    decoded = integers(offsets, table.counting(run.counts + 1), "offsets")
    return variable.decode_separate(run, decoded, kind)


def decode_zip_fixed(
    encoding: CompressiveEncoding, rows: Bytes, ctx: Context, place: Place
) -> Values:
    """Decode values of equal size: `rows` uint8 (values, bytes of a value). Raises CorruptPage."""
    arm = encoding.WhichOneof("compression")
    if arm == "fixed_size_list":
        return fixed_size_list.decode_zip(encoding.fixed_size_list, rows, ctx, place)
    whole = Fixed(8 * rows.shape[1], len(rows), np.ascontiguousarray(rows).reshape(-1))
    if arm == "packed_struct":
        fields = encoding.packed_struct.bits_per_value
        packed_struct.check_bits(fields, whole.bits, place)
        return packed_struct.split(whole, fields)
    bits = only_flat(encoding, place)
    if bits != whole.bits:
        raise CorruptPage("L.codec.flat.size", place, whole.bits, bits)
    return whole


def decode_zip_variable(
    encoding: CompressiveEncoding, values: Variable, ctx: Context, place: Place
) -> Variable | Rows:
    """Decode values that were cut by their lengths, each coded on its own.

    Raises UnknownEncoding.
    """
    match encoding.WhichOneof("compression"):
        case "variable":
            return values
        case "fsst":
            return fsst.decode(fsst.parse_table(encoding.fsst.symbol_table, place), values, place)
        case "general":
            name = general.codec_name(encoding.general, place)
            inner = general.decompress_each(name, values, ctx, place)
            return decode_zip_variable(encoding.general.values, inner, ctx, place)
        case "variable_packed_struct":
            packed = encoding.variable_packed_struct
            decoders = decode_zip_fixed, decode_zip_variable
            return packed_struct.split_variable(packed, values, *decoders, ctx, place)
    raise unsupported(encoding, "a variable-width value", place)


@specified
def pick(encoding: CompressiveEncoding, run: ChunkRun, slots: Ints) -> Values | None:
    """Return the values of the run with the numbers `slots` (n,), ascending, without the others.

    None for codecs whose values are not found singly: here all of them.
    """
    return None

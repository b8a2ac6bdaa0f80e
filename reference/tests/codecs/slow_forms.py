"""Codecs written value by value, as the chapter states them: bytes for decoders to read."""

from collections.abc import Sequence

import hypothesis.strategies as st
import pyarrow as pa

from .runs import words

PREFIX = {"lz4_raw": 4, "zstd": 8}
"""Bytes of the uncompressed size in front of a compressed buffer."""

SYMBOLS = st.lists(st.binary(min_size=1, max_size=8), min_size=1, max_size=20)


def pack_block(values: Sequence[int], bits: int, width: int) -> bytes:
    """Pack 1 024 values of `bits` bits into `width` bits each, in the FastLanes order."""
    order = (0, 4, 2, 6, 1, 5, 3, 7)
    lanes = 1024 // bits
    packed = [0] * (width * lanes)
    for lane in range(lanes):
        stream = 0
        for row in range(bits):
            value = values[order[row // 8] * 16 + (row % 8) * 128 + lane]
            stream |= value << (row * width)
        for word in range(width):
            packed[word * lanes + lane] = stream >> (word * bits) & ((1 << bits) - 1)
    return words(packed, bits)


def pack_inline(values: Sequence[int], bits: int, width: int) -> bytes:
    """Write one inline chunk: the width, then the block padded with zeros."""
    return words([width], bits) + pack_block(_padded(values), bits, width)


def pack_out_of_line(values: Sequence[int], bits: int, width: int, raw: bool) -> bytes:
    """Write whole blocks, then a raw tail or a padded block."""
    whole = len(values) // 1024 * 1024
    packed = [pack_block(values[i : i + 1024], bits, width) for i in range(0, whole, 1024)]
    tail = values[whole:]
    if tail:
        packed.append(words(tail, bits) if raw else pack_block(_padded(tail), bits, width))
    return b"".join(packed)


def _padded(values: Sequence[int]) -> list[int]:
    return [*values, *[0] * (1024 - len(values))]


def run_parts(runs: Sequence[tuple[int, int]], bits: int = 16) -> tuple[bytes, bytes, int]:
    """Return values and lengths of runs, and how many values they stand for."""
    lengths = bytes(length for _, length in runs)
    return words([value for value, _ in runs], bits), lengths, sum(lengths)


def run_frame(runs: Sequence[tuple[int, int]], bits: int = 16) -> bytes:
    """Write runs as a block: the size of the values, the values, the lengths."""
    values, lengths, _ = run_parts(runs, bits)
    return words([len(values)], 64) + values + lengths


def dictionary_frame(indices: Sequence[int], items: Sequence[int]) -> bytes:
    """Write a dictionary block: both sizes, indices of 32 bits, items of 64."""
    first, second = words(indices, 32), words(items, 64)
    return words([len(first), len(second)], 64) + first + second


def ends(values: Sequence[bytes], start: int = 0) -> list[int]:
    """Return the offsets of byte strings that begin at `start`."""
    offsets = [start]
    for value in values:
        offsets.append(offsets[-1] + len(value))
    return offsets


def string_block(values: Sequence[bytes], bits: int) -> bytes:
    """Write a block of strings: width, start of the bytes, offsets from 0, the bytes."""
    table = words(ends(values), bits)
    return words([bits, bits // 4 + len(table)], bits) + table + b"".join(values)


def compress(name: str, data: bytes, size: int | None = None) -> bytes:
    """Compress after a prefix that gives `size`, or the real one."""
    prefix = (len(data) if size is None else size).to_bytes(PREFIX[name], "little")
    packed: bytes = pa.Codec(name).compress(data, asbytes=True)
    return prefix + packed


def symbol_table(symbols: Sequence[bytes], is_on: bool = True) -> bytes:
    """Write an FSST table of 2 312 bytes."""
    header = bytes([len(symbols), 0, 0, int(is_on)]) + b"TSSF"
    cells = b"".join(symbol.ljust(8, b"\0") for symbol in symbols)
    return (header + cells + bytes(map(len, symbols))).ljust(2312, b"\0")


def decode_codes(symbols: Sequence[bytes], codes: bytes) -> bytes:
    """Decode one FSST value code by code."""
    out, at = b"", 0
    while at < len(codes):
        if codes[at] == 255:
            out, at = out + codes[at + 1 : at + 2], at + 2
        else:
            out, at = out + symbols[codes[at]], at + 1
    return out


def draw_codes(draw: st.DataObject, symbols: Sequence[bytes]) -> list[bytes]:
    """Draw FSST values for a table: symbols and escapes, 255 among the escaped bytes."""
    code = st.integers(0, len(symbols) - 1).map(lambda c: bytes([c]))
    escape = st.sampled_from([0, 1, 254, 255]).map(lambda c: bytes([255, c]))
    value = st.lists(code | escape, max_size=12).map(b"".join)
    return draw.draw(st.lists(value, max_size=10))

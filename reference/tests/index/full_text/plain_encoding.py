"""Plain forms of what the writer encodes for many tokens at once, one number after the other."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import numpy as np
from lanceref.index.full_text.packed_integers import Numbers, pack_rows
from lanceref.index.full_text.posting_blocks import BlockLayout, Postings


def pack(numbers: Numbers, width_bits: int) -> bytes:
    """Return numbers that have at most so many bits, 128 or 256 of them, as a group."""
    return pack_rows(numbers[np.newaxis], width_bits).tobytes()


def encode_group(numbers: Numbers) -> bytes:
    """Return the least width that fits, and the group."""
    width = int(numbers.max(initial=0)).bit_length()
    return bytes([width]) + pack(numbers, width)


def encode_varint(value: int) -> bytes:
    """Return a number as bytes."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def encode_varints(values: Iterable[int]) -> bytes:
    """Return numbers as bytes, one after the other."""
    return b"".join(map(encode_varint, values))


def encode_postings(
    postings: Postings, layout: BlockLayout, scores: Sequence[np.float32]
) -> list[bytes]:
    """Return the blocks; `scores` are the highest of each, not written where none has one."""
    blocks = []
    for number, start in enumerate(range(0, len(postings.documents), layout.size)):
        documents = postings.documents[start : start + layout.size]
        frequencies = postings.frequencies[start : start + layout.size]
        head = struct.pack("<f", scores[number]) if layout.has_scores else b""
        blocks.append(head + _encode_block(documents, frequencies, layout))
    return blocks


def _encode_block(documents: Numbers, frequencies: Numbers, layout: BlockLayout) -> bytes:
    if len(documents) == layout.size:
        first = documents[0]
        steps = np.diff(documents, prepend=first).astype(np.uint32)
        counted = encode_group(frequencies) if layout.has_scores else _patched(frequencies)
        return struct.pack("<I", first) + encode_group(steps) + counted
    if layout.fixed_tail:
        return np.concatenate([documents, frequencies]).astype("<u4").tobytes()
    steps = np.diff(documents, prepend=np.uint32(0))
    return encode_varints(steps.tolist()) + encode_varints(frequencies.tolist())


def _patched(values: Numbers) -> bytes:
    """Return the form with the fewest bytes; of equal ones that with the larger width."""
    forms = []
    for width in range(int(values.max()).bit_length(), -1, -1):
        if int((values >> np.uint32(width) > 0).sum() if width < 32 else 0) > 31:
            break
        forms.append(_patched_to(values, width))
    return min(forms, key=len)


def _patched_to(values: Numbers, width: int) -> bytes:
    high = values >> np.uint32(width) if width < 32 else np.zeros_like(values)
    places = np.flatnonzero(high).tolist()
    low = values & np.uint32((1 << width) - 1)
    exceptions = b"".join(bytes([at]) + encode_varint(int(high[at])) for at in places)
    return bytes([width, len(places)]) + pack(low, width) + exceptions


def encode_positions(positions: Sequence[Numbers]) -> bytes:
    """Return the positions of the documents of a block."""
    steps = np.concatenate([np.diff(one, prepend=np.uint32(0)) for one in positions])
    full = len(steps) // 128 * 128
    groups = (encode_group(steps[at : at + 128]) for at in range(0, full, 128))
    return b"".join(groups) + encode_varints(steps[full:].tolist())


def length_code(length: int) -> int:
    """Return the code of a document length."""
    shift = length.bit_length() - 4
    return length if shift < 0 else length >> shift & 7 | shift + 1 << 3


def encode_impacts(postings: Postings, lengths: Numbers, layout: BlockLayout) -> list[bytes]:
    """Return the impacts of the blocks, then those of the groups; `lengths` are per posting."""

    def of_runs(rows: int) -> list[bytes]:
        runs = (slice(start, start + rows) for start in range(0, len(lengths), rows))
        return [
            encode_impact(int(postings.documents[run][-1]), postings.frequencies[run], lengths[run])
            for run in runs
        ]

    return of_runs(layout.size) + of_runs(layout.size * 32)


def encode_impact(last: int, frequencies: Numbers, lengths: Numbers) -> bytes:
    """Return the impacts of some documents, of which `last` is the last."""
    shortest: dict[int, int] = {}
    for frequency, length in zip(frequencies.tolist(), lengths.tolist(), strict=True):
        shortest[frequency] = min(length, shortest.get(frequency, length))
    pairs: dict[int, int] = {}
    least = max(shortest.values()) + 1
    for frequency in sorted(shortest, reverse=True):
        if shortest[frequency] < least:
            least = shortest[frequency]
            pairs.setdefault(length_code(least), frequency)  # the highest frequency of a code
    out = encode_varint(last) + encode_varint(len(pairs))
    code, before = 0, 0
    for next_code, frequency in sorted(pairs.items(), key=lambda pair: pair[1]):
        step = (next_code - code) & 0xFF
        out += encode_varint(frequency - before - 1 << 1 | (step != 1))
        out += b"" if step == 1 else bytes([step])
        code, before = next_code, frequency
    return out

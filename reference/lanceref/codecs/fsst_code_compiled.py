"""FSST, coding, compiled: values to stored codes in one pass; see `codecs.fsst_code`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.codecs.fsst_code import HASH_BITS, HASH_FACTOR, HASH_SHIFT, LITERAL, MAX_SYMBOL, Coder
from lanceref.codecs.fsst_expand import ESCAPE
from lanceref.codecs.values import Bytes, Ints, Variable
from lanceref.kernels.compiled import compiled

BYTE, TWO_BYTES, THREE_BYTES = np.uint64(0xFF), np.uint64(0xFFFF), np.uint64(0xFFFFFF)

FACTOR, SHIFT, SLOTS = np.uint64(HASH_FACTOR), np.uint64(HASH_SHIFT), np.uint64(2**HASH_BITS - 1)


def apply(coder: Coder, values: Variable) -> Variable:
    """Code the values with the symbols of a table."""
    data = np.append(values.data[: int(values.offsets[-1])], np.zeros(MAX_SYMBOL, np.uint8))
    words = np.ndarray((len(data) - MAX_SYMBOL + 1,), "<u8", data.data, strides=(1,))
    out, ends = np.empty(2 * len(data), np.uint8), np.zeros(values.count + 1, np.int64)
    size = _code(
        coder.lengths,
        coder.slots,
        coder.slot_symbols,
        coder.slot_masks,
        coder.shorts,
        coder.singles,
        words,
        values.offsets,
        out,
        ends,
    )
    return Variable(ends, out[:size])


@compiled
def _code(
    lengths: Ints,
    slots: NDArray[np.int16],
    slot_symbols: NDArray[np.uint64],
    slot_masks: NDArray[np.uint64],
    shorts: NDArray[np.int16],
    singles: NDArray[np.int16],
    words: NDArray[np.uint64],
    offsets: Ints,
    out: Bytes,
    ends: Ints,
) -> int:
    """Write the codes of every value, at most two bytes for each of its own; return the size."""
    size = 0
    for value in range(len(ends) - 1):
        at, end = offsets[value], offsets[value + 1]
        while at < end:
            word = words[at]
            mixed = (word & THREE_BYTES) * FACTOR
            slot = (mixed ^ (mixed >> SHIFT)) & SLOTS
            fits = (word & slot_masks[slot]) == slot_symbols[slot]
            if fits and lengths[slots[slot]] <= end - at:
                code = np.int64(slots[slot])
            elif end - at == 1:
                code = np.int64(singles[word & BYTE])
            else:
                code = np.int64(shorts[word & TWO_BYTES])
            if code >= LITERAL:
                out[size] = ESCAPE
                out[size + 1] = word & BYTE
                size += 2
                at += 1
            else:
                out[size] = code
                size += 1
                at += lengths[code]
        ends[value + 1] = size
    return size

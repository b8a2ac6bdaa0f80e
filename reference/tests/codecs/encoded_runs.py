"""Encoded values as runs of chunks, for the tests of encoders."""

import numpy as np
from lanceref.codecs.compressive import decode_mini
from lanceref.codecs.values import Fixed, Variable

from .runs import run_of


def parts_of(buffer):
    """Cut a buffer of all chunks into those of each."""
    data, sizes = buffer
    ends = np.cumsum(sizes).tolist()
    return [bytes(data[start:end]) for start, end in zip([0, *ends], ends)]


def decoded(blocks):
    """Decode what an encoder made."""
    buffers = [parts_of(buffer) for buffer in blocks.buffers]
    return decode_mini(blocks.encoding, run_of(*buffers, counts=blocks.counts.tolist()))


def fixed(values, bits=32):
    """Return values of fixed width."""
    return Fixed(bits, len(values), np.array(values, f"<u{bits // 8}").view(np.uint8))


def variable(texts):
    """Return byte strings."""
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return Variable(offsets, np.frombuffer(b"".join(texts), np.uint8))


def texts_of(values):
    """Return byte strings as Python has them."""
    bounds = zip(values.offsets.tolist(), values.offsets[1:].tolist())
    return [bytes(values.data[start:end]) for start, end in bounds]

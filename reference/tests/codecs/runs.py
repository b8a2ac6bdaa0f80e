"""Buffers of plain bytes, and values as plain Python: what the codec tests share."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from lanceref.codecs.blocks import decode_block
from lanceref.codecs.buffers import Buffer, MiniBlocks, remaining_buffer
from lanceref.codecs.compressive import decode_mini
from lanceref.codecs.values import Fixed, FixedSizeList, Rows, Values, Variable
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.spans import SpanRecorder
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

BASE = 1000
"""Where the buffers of the tests lie in their imaginary file."""

CTX = Context("test.lance")
PLACE = CTX.at(BASE)


def buffers_of(parts: Sequence[bytes], ctx: Context = CTX) -> list[Buffer]:
    """Return the buffers of one chunk, each padded to eight bytes as in a page."""
    found, offset = [], BASE
    for part in parts:
        found.append(Buffer(ctx, np.frombuffer(bytes(part), np.uint8), offset))
        offset += len(part) + -len(part) % 8
    return found


def cursor_of(data: bytes, ctx: Context = CTX) -> Cursor:
    """Return a cursor over `data` at BASE."""
    return Cursor(memoryview(data), BASE, ctx)


def recording() -> Context:
    """Return a context that records spans and findings."""
    return Context("test.lance", spans=SpanRecorder(), findings=[])


def leaves(ctx: Context) -> list[tuple[int, int, str, str]]:
    """Return the recorded spans as (start, end, name, kind), relative to BASE."""
    assert ctx.spans is not None
    return [(s.start - BASE, s.end - BASE, s.name, s.kind) for s in ctx.spans.root.leaves()]


def plain(values: Values) -> list[object]:
    """Return values as plain Python: integers, bytes, lists with None, tuples."""
    check(values)
    if isinstance(values, Fixed):
        if values.bits == 1:
            bits = np.unpackbits(values.data, count=values.count, bitorder="little")
            return [int(bit) for bit in bits]
        width = values.bits // 8
        raw = values.data.tobytes()
        parts = (raw[i * width : (i + 1) * width] for i in range(values.count))
        return [int.from_bytes(part, "little") for part in parts]
    if isinstance(values, Variable):
        raw, ends = values.data.tobytes(), values.offsets.tolist()
        return [raw[a:b] for a, b in pairwise(ends)]
    if isinstance(values, FixedSizeList):
        items = plain(values.items)
        if values.validity is not None:
            items = [i if ok else None for i, ok in zip(items, values.validity)]
        size = values.dimension
        return [items[at : at + size] for at in range(0, len(items), size)]
    assert isinstance(values, Rows)
    return list(zip(*(plain(field) for field in values.fields)))


def cells_of(rows: np.ndarray) -> Fixed:
    """Return rows of bytes, (values, bytes of a value), as values of fixed width."""
    return Fixed(8 * rows.shape[1], len(rows), np.ascontiguousarray(rows).reshape(-1))


def check(values: Values) -> None:
    """Assert what `pages` relies on: buffers as long as counts say, offsets in order."""
    if isinstance(values, Fixed):
        assert values.data.dtype == np.uint8
        assert len(values.data) == (values.count * values.bits + 7) // 8
    elif isinstance(values, Variable):
        assert values.offsets.dtype == np.int64
        assert values.offsets[0] == 0
        assert (np.diff(values.offsets) >= 0).all()
        assert values.offsets[-1] <= len(values.data)
    elif isinstance(values, FixedSizeList):
        assert values.items.count == values.count * values.dimension
        assert values.validity is None or len(values.validity) == values.items.count
        check(values.items)
    elif isinstance(values, Rows):
        for field in values.fields:
            assert field.count == values.count
            check(field)


def fixed(values: Sequence[int], bits: int = 32) -> Fixed:
    """Return integers as values of fixed width."""
    return Fixed(bits, len(values), np.array(values, f"<u{bits // 8}").view(np.uint8))


def variable(texts: Sequence[bytes]) -> Variable:
    """Return byte strings as values."""
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return Variable(offsets, np.frombuffer(b"".join(texts), np.uint8))


def parts_of(buffer: tuple[np.ndarray, np.ndarray]) -> list[bytes]:
    """Cut a buffer of all chunks into those of each."""
    data, sizes = buffer
    cuts = np.cumsum(sizes).tolist()
    return [bytes(data[start:end]) for start, end in zip([0, *cuts], cuts)]


def decoded(blocks: MiniBlocks) -> list[object]:
    """Decode the chunks that an encoder made, as plain Python."""
    buffers = zip(*(parts_of(buffer) for buffer in blocks.buffers), strict=True)
    return [
        value
        for parts, count in zip(buffers, blocks.counts.tolist(), strict=True)
        for value in plain(decode_mini(blocks.encoding, buffers_of(parts), count))
    ]


def block_values(encoding: CompressiveEncoding, data: bytes, count: int) -> list[object]:
    """Decode a single block as plain Python."""
    return plain(decode_block(encoding, remaining_buffer(cursor_of(data)), count))


def words(values: Sequence[int], bits: int) -> bytes:
    """Write integers of `bits` bits."""
    return b"".join(value.to_bytes(bits // 8, "little") for value in values)

"""Decoded size of an Arrow IPC file, from the lengths that its messages declare.

The footer and the heads of record batches are flatbuffers; only the fields needed here are read.
An invalid file may give any number or a `struct.error`: it is refused anyway.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

MAGIC = b"ARROW1"
MAX_HEAD_BYTES = 4 * 2**20
"""Bytes of a footer or of the head of a message: some 50,000 columns or batches."""

ARRAY_BYTES = 256
"""Bytes of an array in addition to its buffers."""

ROW_BYTES = 4
"""Bytes that a comparison needs for a row in addition to its value."""

MESSAGE_BYTES = 2048
"""Bytes of a record batch in addition to its arrays."""

_CONTINUATION = 0xFFFFFFFF
_V5 = 4


def bytes_to_decode(data: bytes, most: int) -> int:
    """Return the decoded size of a file in bytes; the sum may stop once it exceeds `most`.

    Raises ValueError, struct.error.
    """
    if not (data.startswith(MAGIC) and data.endswith(MAGIC)):
        raise ValueError(f"does not begin and end with {MAGIC.decode()}")
    (size,) = struct.unpack_from("<i", data, len(data) - 10)
    start = len(data) - 10 - size
    if not 0 < size <= MAX_HEAD_BYTES or start < 0:
        raise ValueError(f"a footer of {size} bytes")
    footer = FlatbufferTable.root(data, start)
    blocks = [*_blocks(footer, 2), *_blocks(footer, 3)]
    takes = MESSAGE_BYTES * len(blocks)
    for offset, head in blocks:
        if takes > most:
            break
        takes += _message_bytes(data, offset, head)
    return takes


class FlatbufferTable:
    """A table of a flatbuffer: fields are found by their number."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at
        self._vtable = at - self._number("<i", at)

    @classmethod
    def root(cls, data: bytes, at: int) -> FlatbufferTable:
        """Return the root table of the flatbuffer that begins at `at`."""
        return cls(data, at + cls._checked("<I", data, at))

    def _place(self, field: int) -> int:
        """Return the offset of a field, 0 when it is absent."""
        slot = 4 + 2 * field
        if slot + 2 > self._number("<H", self._vtable):
            return 0
        offset = self._number("<H", self._vtable + slot)
        return self._at + offset if offset else 0

    def number(self, field: int, form: str) -> int:
        """Return a scalar field, 0 when it is absent."""
        at = self._place(field)
        return self._number(form, at) if at else 0

    def table(self, field: int) -> FlatbufferTable | None:
        """Return the table that a field points to."""
        at = self._place(field)
        return FlatbufferTable(self._data, at + self._number("<I", at)) if at else None

    def structs(self, field: int, form: str) -> Iterator[tuple[int, ...]]:
        """Yield the structs of a vector."""
        at = self._place(field)
        if not at:
            return
        at += self._number("<I", at)
        size = struct.calcsize(form)
        count = self._number("<I", at)
        if count * size > MAX_HEAD_BYTES or at + 4 + count * size > len(self._data):
            raise ValueError(f"a vector of {count} structs")
        yield from struct.iter_unpack(form, self._data[at + 4 : at + 4 + count * size])

    def _number(self, form: str, at: int) -> int:
        return self._checked(form, self._data, at)

    @staticmethod
    def _checked(form: str, data: bytes, at: int) -> int:
        if at < 0:
            raise ValueError("an offset below 0")
        return int(struct.unpack_from(form, data, at)[0])


def _blocks(footer: FlatbufferTable, field: int) -> Iterator[tuple[int, int]]:
    for offset, head, _ in footer.structs(field, "<qi4xq"):
        yield offset, head


def _message_bytes(data: bytes, at: int, head: int) -> int:
    """Return the decoded bytes of the record batch of a message, also of a dictionary."""
    if not 0 < head <= MAX_HEAD_BYTES:
        raise ValueError(f"a message with a head of {head} bytes")
    first = FlatbufferTable._checked("<I", data, at)
    message = FlatbufferTable.root(data, at + (8 if first == _CONTINUATION else 4))
    batch = message.table(2)
    if batch is not None and message.number(1, "<B") == 2:
        batch = batch.table(1)
    if batch is None:
        return 0
    compressed = batch.table(3) is not None or (
        message.number(0, "<h") < _V5 and message.table(4) is not None
    )
    takes = 0
    for length, _ in batch.structs(1, "<qq"):
        takes += ARRAY_BYTES + ROW_BYTES * max(length, 0)
    for offset, length in batch.structs(2, "<qq"):
        takes += max(length, 0)
        if compressed and length > 0:
            (declared,) = struct.unpack_from("<q", data, at + head + max(offset, 0))
            takes += max(declared, 0)
    return takes

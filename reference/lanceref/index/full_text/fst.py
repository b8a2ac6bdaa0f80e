"""Token dictionary: the tokens of a partition and the number of each, as a transducer.

Layout (little-endian): u64 version 3; u64 0; the nodes; u64 number of tokens; u64 address of the
first node; u32 checksum: the CRC-32C of all before it, turned right by 15 bits, plus 0xa282ead8.

Clauses: L.index.fts.fst.version, L.index.fts.fst.checksum, L.index.fts.fst.count
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from lanceref.codecs.crc32c import crc32c
from lanceref.core.cursor import Cursor
from lanceref.core.errors import BadMagic, CorruptPage, FormatError
from lanceref.index.full_text.fst_node import HEADER_BYTES, Node, parse_node

VERSION = 3
FOOTER_BYTES = 20
LONGEST = 1 << 16
"""Bytes that a token may have at most."""

MASK = 0xA282EAD8
HEADER = struct.pack("<QQ", VERSION, 0)


def checksum(data: bytes | memoryview) -> int:
    """Return the masked CRC-32C of bytes."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + MASK) & 0xFFFFFFFF


class Fst:
    """A dictionary whose frame has been checked; its nodes are parsed as they are walked."""

    def __init__(self, cursor: Cursor, root: int, count: int) -> None:
        self._cursor, self.root, self.count = cursor, root, count

    def get(self, token: bytes) -> int | None:
        """Return the number of a token, None when it is not there. Raises FormatError."""
        node, value = self.node(self.root), 0
        for octet in token:
            for byte, output, target in node.ways:
                if byte == octet:
                    node, value = self.node(target), value + output
                    break
            else:
                return None
        return value + node.final_output if node.final else None

    def items(self) -> Iterator[tuple[bytes, int]]:
        """Yield tokens, ascending, and their numbers. Raises FormatError."""
        found = 0
        stack = [(self.root, b"", 0)]
        while stack:
            address, token, value = stack.pop()
            node = self.node(address)
            if node.final:
                found += 1
                yield token, value + node.final_output
            if found > self.count or len(token) > LONGEST:
                break
            if not node.final and not node.ways and self.count:
                raise CorruptPage(
                    "L.index.fts.fst.node",
                    self._cursor.ctx.at(self._cursor.base + address, 1),
                    found=f"a way that ends at {address}",
                    wanted="a token",
                )
            for octet, output, target in reversed(node.ways):
                stack.append((target, token + bytes([octet]), value + output))
        if found != self.count:
            raise CorruptPage(
                "L.index.fts.fst.count",
                self._cursor.ctx.at(self._cursor.base, len(self._cursor.data)),
                found=f"{found} tokens" if found < self.count else "more tokens",
                wanted=f"{self.count}",
            )

    def node(self, address: int) -> Node:
        """Return the node at an address. Raises FormatError."""
        return parse_node(self._cursor, address)


def parse_fst(cursor: Cursor) -> Fst:
    """Parse the frame of the dictionary that fills `cursor`. Raises FormatError."""
    data, base, ctx = cursor.data, cursor.base, cursor.ctx
    cursor.require(HEADER_BYTES + FOOTER_BYTES, "token dictionary", "L.index.fts.fst.version")
    version = cursor.u64("version of the dictionary", "L.index.fts.fst.version")
    if version != VERSION:
        raise BadMagic(
            "L.index.fts.fst.version", ctx.at(base, 8), found=f"{version}", wanted=f"{VERSION}"
        )
    end = len(data) - FOOTER_BYTES
    count, root, stored = struct.unpack("<QQI", data[end:])
    computed = checksum(data[:-4])
    if stored != computed:
        raise CorruptPage(
            "L.index.fts.fst.checksum",
            ctx.at(base + len(data) - 4, 4),
            found=f"{stored:08x}",
            wanted=f"{computed:08x}",
        )
    if root and not HEADER_BYTES <= root < end:
        raise FormatError(
            "L.index.fts.fst.target",
            ctx.at(base + end + 8, 8),
            found=f"a first node at {root}",
            wanted=f"between {HEADER_BYTES} and {end}",
        )
    return Fst(cursor, root, count)

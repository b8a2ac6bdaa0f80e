"""Huffman tree: a path of bits for every byte of a text, short where the byte is frequent.

The two rarest parts are joined again and again; of equally rare ones the older, where bytes are
made in their order. The first of the two lies at bit 0. Nodes are numbered from the root on, all
below bit 0 before those below bit 1.

Layout (little-endian) of the topology: u32 number of nodes; of each, and of both its sides, u8
kind (0: a node, 1: a byte), u32 which. Of the codes, for each of 256 bytes: u32 bits, the first as
the highest; u8 how many; u16 number of nodes; these, u32 each.

Clauses: L.index.fm.topology, L.index.fm.codes
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage

BYTES = 256
NODE, BYTE = 0, 1
ENTRY_BYTES = 10
CODE_LIMIT = 0xFFFFFFFF

_SIDE = struct.Struct("<BI")
_CODE = struct.Struct("<IBH")

Side = tuple[int, int]
"""What lies at a bit: its kind, and which node or byte."""

Path = list[tuple[int, int]]
"""Nodes and the bits taken there, from the root on."""


@dataclass(frozen=True, slots=True)
class HuffmanTree:
    """The sides of every node; none when the text is empty."""

    sides: Sequence[tuple[Side, Side]]

    def paths(self) -> dict[int, Path]:
        """Return the path of every byte."""
        found: dict[int, Path] = {}
        pending: list[tuple[int, Path]] = [(0, [])] if self.sides else []
        while pending:
            node, path = pending.pop()
            for bit, (kind, which) in enumerate(self.sides[node]):
                below = [*path, (node, bit)]
                if kind == BYTE:
                    found[which] = below
                else:
                    pending.append((which, below))
        return found

    def encode_codes(self) -> bytes:
        """Return the codes of all bytes as bytes."""
        paths = self.paths()
        parts = []
        for byte in range(BYTES):
            path = paths.get(byte, [])
            bits = 0
            for _, bit in path:
                bits = (bits << 1 | bit) & CODE_LIMIT
            parts.append(_CODE.pack(bits, len(path), len(path)))
            parts += [struct.pack("<I", node) for node, _ in path]
        return b"".join(parts)

    def encode_topology(self) -> bytes:
        """Return the sides of all nodes as bytes."""
        parts = [_SIDE.pack(*side) for both in self.sides for side in both]
        return struct.pack("<I", len(self.sides)) + b"".join(parts)


def parse_topology(cursor: Cursor) -> HuffmanTree:
    """Parse the tree that fills `cursor`. Raises FormatError."""
    start = cursor.offset
    count = cursor.u32("number of nodes", "L.index.fm.topology")
    cursor.require(count * ENTRY_BYTES, f"{count} nodes", "L.index.fm.topology")
    numbers = [
        (cursor.u8("kind", "L.index.fm.topology"), cursor.u32("which", "L.index.fm.topology"))
        for _ in range(2 * count)
    ]
    sides = list(zip(numbers[::2], numbers[1::2], strict=True))
    if not _is_tree(sides) or cursor.remaining:
        raise CorruptPage(
            "L.index.fm.topology",
            cursor.ctx.at(start, 4 + count * ENTRY_BYTES),
            found=f"nodes {sides[:4]} and {cursor.remaining} bytes behind",
            wanted="a tree over different bytes, numbered from its root on",
        )
    return HuffmanTree(sides)


def _is_tree(sides: Sequence[tuple[Side, Side]]) -> bool:
    """Return whether every node but the first is met once, in order, and no byte twice."""
    met: set[int] = set()
    expected = 0
    pending: list[Side] = [(NODE, 0)] if sides else []
    while pending:
        kind, which = pending.pop()
        if kind == NODE and which == expected < len(sides):
            expected += 1
            pending += reversed(sides[which])
        elif kind == BYTE and which < BYTES and which not in met:
            met.add(which)
        else:
            return False
    return expected == len(sides)


def build_tree(counts: NDArray[np.int64]) -> HuffmanTree:
    """Return the tree for bytes that occur so often: int64[256], none or at least two of them."""
    parts: list[Side] = [(BYTE, int(byte)) for byte in np.flatnonzero(counts)]
    heap = [(int(counts[byte]), number, number) for number, (_, byte) in enumerate(parts)]
    heapq.heapify(heap)
    joined: dict[int, tuple[int, int]] = {}
    while len(heap) > 1:
        (one, _, first), (two, _, second) = heapq.heappop(heap), heapq.heappop(heap)
        number = len(parts) + len(joined)
        joined[number] = first, second
        heapq.heappush(heap, (one + two, number, number))
    return HuffmanTree(_numbered(parts, joined, heap[0][2]) if joined else [])


def _numbered(
    parts: Sequence[Side], joined: dict[int, tuple[int, int]], root: int
) -> list[tuple[Side, Side]]:
    """Return the sides of joined parts, numbered from the root on."""
    order = []
    pending = [root]
    while pending:
        part = pending.pop()
        if part in joined:
            order.append(part)
            pending += reversed(joined[part])
    numbers = {part: (NODE, number) for number, part in enumerate(order)}
    named = dict(enumerate(parts)) | numbers
    return [(named[joined[part][0]], named[joined[part][1]]) for part in order]

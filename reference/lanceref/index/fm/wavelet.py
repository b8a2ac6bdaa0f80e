"""Wavelet tree: how often each byte occurs before a place of a text, without the text.

Every node of a Huffman tree has a bit for each byte of the text whose path goes through it, in the
order of the text: the side on which the path goes on. A place in a node becomes, by the number of
ones or zeros before it, a place in the node of that side.

The tree merges the two rarest parts until one is left; of equally rare ones the older, where bytes
are made in their order. The first of the two lies at bit 0. Nodes are numbered from the root on,
all below bit 0 before those below bit 1.

Layout (little-endian): bits from the lowest of u64 words on. Topology: u32 number of nodes; of
each, and of both its sides, u8 kind (0: a node, 1: a byte), u32 which. Codes, of each of 256 bytes:
u32 bits, the first as the highest; u8 how many; u16 number of nodes; these, u32 each.

Clauses: L.index.fm.node, L.index.fm.topology, L.index.fm.codes
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage
from lanceref.index.full_text.packed_integers import offsets_of

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
        """Return the path from the root to the leaf of every byte."""
        paths: dict[int, Path] = {}
        pending: list[tuple[int, Path]] = [(0, [])] if self.sides else []
        while pending:
            node, path = pending.pop()
            for bit, (kind, which) in enumerate(self.sides[node]):
                below = [*path, (node, bit)]
                if kind == BYTE:
                    paths[which] = below
                else:
                    pending.append((which, below))
        return paths

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
    start, clause = cursor.offset, "L.index.fm.topology"
    count = cursor.u32("number of nodes", clause)
    cursor.require(count * ENTRY_BYTES, f"{count} nodes", clause)
    numbers = [(cursor.u8("kind", clause), cursor.u32("which", clause)) for _ in range(2 * count)]
    sides = list(zip(numbers[::2], numbers[1::2], strict=True))
    if not _is_tree(sides) or cursor.remaining:
        place = cursor.ctx.at(start, 4 + count * ENTRY_BYTES)
        found = f"nodes {sides[:4]} and {cursor.remaining} bytes after them"
        wanted = "a tree over different bytes, numbered from its root on"
        raise CorruptPage(clause, place, found, wanted)
    return HuffmanTree(sides)


def _is_tree(sides: Sequence[tuple[Side, Side]]) -> bool:
    """Return whether every node but the first is reached once, in order, and no byte twice."""
    reached: set[int] = set()
    expected = 0
    pending: list[Side] = [(NODE, 0)] if sides else []
    while pending:
        kind, which = pending.pop()
        if kind == NODE and which == expected < len(sides):
            expected += 1
            pending += reversed(sides[which])
        elif kind == BYTE and which < BYTES and which not in reached:
            reached.add(which)
        else:
            return False
    return expected == len(sides)


def build_tree(counts: NDArray[np.int64]) -> HuffmanTree:
    """Return the tree for bytes that occur so often: int64[256], none or at least two of them."""
    parts: list[Side] = [(BYTE, int(byte)) for byte in np.flatnonzero(counts)]
    heap = [(int(counts[byte]), number, number) for number, (_, byte) in enumerate(parts)]
    heapq.heapify(heap)
    pairs: dict[int, tuple[int, int]] = {}
    root = 0
    while len(heap) > 1:
        (one, _, first), (two, _, second) = heapq.heappop(heap), heapq.heappop(heap)
        root = len(parts) + len(pairs)
        pairs[root] = first, second
        heapq.heappush(heap, (one + two, root, root))
    order, pending = [], [root]
    while pending:
        part = pending.pop()
        if part in pairs:
            order.append(part)
            pending += reversed(pairs[part])
    sides = dict(enumerate(parts)) | {part: (NODE, number) for number, part in enumerate(order)}
    return HuffmanTree([(sides[pairs[part][0]], sides[pairs[part][1]]) for part in order])


WORD_BITS = 64
WORD_SHIFT = 6

Positions = NDArray[np.int64]
Words = NDArray[np.uint64]


class WaveletTree:
    """A text: the words of every node of its tree, read when they are needed.

    `load` returns the words of the nodes from one to another, read together.
    """

    def __init__(self, tree: HuffmanTree, load: Callable[[int, int], Sequence[Words]]) -> None:
        self.tree, self.paths, self._load = tree, tree.paths(), load
        self._nodes: dict[int, tuple[Words, Positions]] = {}

    def _read(self, start: int, end: int) -> None:
        """Keep the words of nodes, an empty one after them, and the ones before each."""
        for node, words in zip(range(start, end), self._load(start, end), strict=True):
            own = np.append(words, np.uint64(0))
            self._nodes[node] = own, offsets_of(np.bitwise_count(own).astype(np.int64))[:-1]

    def _bits(self, node: int, places: Positions) -> tuple[NDArray[np.bool_], Positions]:
        """Return the bits of a node at places, and the ones before these. All are (n,)."""
        if node not in self._nodes:
            self._read(node, node + 1)
        words, before = self._nodes[node]
        number, bit = places >> WORD_SHIFT, (places & WORD_BITS - 1).astype(np.uint64)
        own, below = words[number], (np.uint64(1) << bit) - np.uint64(1)
        is_one = np.asarray(own >> bit & np.uint64(1), np.bool_)
        return is_one, before[number] + np.bitwise_count(own & below)

    def count(self, byte: int, places: Positions) -> Positions:
        """Return how often a byte of the tree occurs before places (n,): (n,)."""
        for node, bit in self.paths[byte]:
            _, ones = self._bits(node, places)
            places = ones if bit else places - ones
        return places

    def bytes_at(self, places: Positions) -> tuple[NDArray[np.uint8], Positions]:
        """Return the bytes at places, and how often each occurs before its own. All are (n,)."""
        if len(self._nodes) < len(self.tree.sides):
            self._read(0, len(self.tree.sides))
        found = np.empty(len(places), np.uint8)
        counts = np.empty(len(places), np.int64)
        pending = [(0, np.arange(len(places)), places)]
        while pending:
            node, rows, places = pending.pop()
            bits, ones = self._bits(node, places)
            for side, (kind, which) in enumerate(self.tree.sides[node]):
                mask = bits if side else ~bits
                below = ones[mask] if side else (places - ones)[mask]
                if kind == BYTE:
                    found[rows[mask]] = which
                    counts[rows[mask]] = below
                elif len(below):
                    pending.append((which, rows[mask], below))
        return found, counts


def node_bits(tree: HuffmanTree, text: NDArray[np.uint8]) -> list[NDArray[np.bool_]]:
    """Return the bits of every node for a text (n,); those of a node are (bytes below it,)."""
    found: list[NDArray[np.bool_]] = [np.empty(0, np.bool_)] * len(tree.sides)
    ones: list[NDArray[np.bool_]] = [np.zeros(256, np.bool_) for _ in tree.sides]
    for byte, path in tree.paths().items():
        for node, bit in path:
            ones[node][byte] = bool(bit)
    pending = [(0, text)] if tree.sides else []
    while pending:
        node, part = pending.pop()
        bits = found[node] = ones[node][part]
        for side, (kind, which) in enumerate(tree.sides[node]):
            if kind != BYTE:
                pending.append((which, part[bits if side else ~bits]))
    return found


def packed(bits: NDArray[np.bool_]) -> Words:
    """Return bits (n,) as words (words,), the first bit as the lowest."""
    data = np.packbits(bits, bitorder="little")
    words = np.zeros(-(-len(bits) // WORD_BITS), np.uint64)
    words.view(np.uint8)[: len(data)] = data
    return words

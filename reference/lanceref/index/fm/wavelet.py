"""Wavelet tree: how often each byte occurs before a place of a text, without the text.

Every node of a Huffman tree has a bit for each byte of the text whose path goes through it, in the
order of the text: the side on which the path goes on. A place in a node becomes, by the number of
ones or zeros before it, a place in the node of that side.

The tree merges the two rarest parts until one is left; of equally rare ones the older, where bytes
are made in their order. The first of the two lies at bit 0. Nodes are numbered from the root on,
all below bit 0 before those below bit 1.

Layout (little-endian): bits from the lowest of u64 words on; blocks of 4096 words, each with the
number of ones before it. Topology: u32 number of nodes; of each, and of both its sides, u8 kind (0:
a node, 1: a byte), u32 which. Codes, of each of 256 bytes: u32 bits, the first as the highest; u8
how many; u16 number of nodes; these, u32 each.

Clauses: L.index.fm.node, L.index.fm.rank, L.index.fm.topology, L.index.fm.codes
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import MERGE_GAP_BYTES, Cursor
from lanceref.core.errors import CorruptPage, Place
from lanceref.core.integers import unique

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
BLOCK_WORDS = 4096
BLOCK_BITS = BLOCK_WORDS * WORD_BITS

Positions = NDArray[np.int64]
Words = NDArray[np.uint64]
Part = tuple[slice | Positions, Words, Positions, Positions, Words]


@dataclass(slots=True)
class NodeBits:
    """The bits of a node: blocks are read when they are needed.

    `before` has the number of ones before each block, and of all. `load` returns the words of a
    block.
    """

    num_bits: int
    before: Positions
    load: Callable[[int], Words]
    place: Place
    _blocks: dict[int, tuple[Words, Positions]] = field(default_factory=dict)

    def ones(self, places: Positions) -> Positions:
        """Return the number of ones before places, each from 0 to the number of bits.

        `places` and the result (n,).
        """
        ones = np.empty(len(places), np.int64)
        for own, words, before, word, bit in self._parts(places):
            below = (np.uint64(1) << bit) - np.uint64(1)
            ones[own] = before[word] + np.bitwise_count(words[word] & below)
        return ones

    def bits(self, places: Positions) -> NDArray[np.bool_]:
        """Return the bits at places below the number of bits. `places` and the result (n,)."""
        bits = np.empty(len(places), np.bool_)
        for own, words, _, word, bit in self._parts(places):
            bits[own] = words[word] >> bit & np.uint64(1)
        return bits

    def _parts(self, places: Positions) -> Iterator[Part]:
        """Yield the places of each block: which they are, its words, the ones before, word, bit."""
        if len(self.before) == 2:
            parts: list[tuple[int, slice | Positions]] = [(0, slice(None))]
        else:
            blocks = np.minimum(places // BLOCK_BITS, len(self.before) - 2)
            parts = [(one, np.flatnonzero(blocks == one)) for one in unique(blocks).tolist()]
        for number, own in parts:
            inside = places[own] - number * BLOCK_BITS
            word, bit = inside >> WORD_SHIFT, (inside & (WORD_BITS - 1)).astype(np.uint64)
            if number not in self._blocks:
                self.keep(number, self.load(number))
            yield own, *self._blocks[number], word, bit

    @property
    def lacks_its_only_block(self) -> bool:
        """Whether there is one block, which has not been read yet."""
        return len(self.before) == 2 and not self._blocks

    def keep(self, number: int, words: Words) -> None:
        """Keep the words of a block, one empty word after them. Raises CorruptPage.

        `words` (n,).
        """
        counts = np.bitwise_count(words).astype(np.int64)
        before = np.concatenate([[self.before[number]], counts]).cumsum()
        wanted = min(BLOCK_BITS, self.num_bits - number * BLOCK_BITS)
        if len(words) != -(-wanted // WORD_BITS) or before[-1] != self.before[number + 1]:
            found = f"{len(words)} words, {before[-1]} ones up to the end of block {number}"
            expected = f"words for {wanted} bits, {self.before[number + 1]} ones"
            raise CorruptPage("L.index.fm.rank", self.place, found, expected)
        self._blocks[number] = np.append(words, np.uint64(0)), before


@dataclass(frozen=True, slots=True)
class WaveletTree:
    """A text: the bits of every node of its tree.

    `load` yields the words of the only blocks of consecutive nodes, read together.
    """

    tree: HuffmanTree
    nodes: Sequence[NodeBits]
    paths: dict[int, Path]
    load: Callable[[Sequence[int]], Iterable[Words]]

    def prepare(self, bytes_: Iterable[int] | None = None) -> None:
        """Read the nodes of one block that are asked of bytes, by default of all, in runs."""
        wanted: Iterable[int] = range(len(self.nodes))
        if bytes_ is not None:
            wanted = {node for byte in bytes_ for node, _ in self.paths.get(byte, ())}
        runs: list[list[int]] = []
        for node in self._with_near(sorted(wanted)):
            if not self.nodes[node].lacks_its_only_block:
                continue
            if runs and runs[-1][-1] == node - 1:
                runs[-1].append(node)
            else:
                runs.append([node])
        for run in runs:
            for node, words in zip(run, self.load(run), strict=True):
                self.nodes[node].keep(0, words)

    def _with_near(self, wanted: Sequence[int]) -> list[int]:
        """Return nodes, and those between two of them that are less than a request costs."""
        nodes = list(wanted[:1])
        for node in wanted[1:]:
            between = range(nodes[-1] + 1, node)
            if sum(self.nodes[one].num_bits for one in between) <= 8 * MERGE_GAP_BYTES:
                nodes.extend(between)
            nodes.append(node)
        return nodes

    def count(self, byte: int, places: Positions) -> Positions:
        """Return how often a byte of the tree occurs before places.

        `places` and the result (n,).
        """
        for node, bit in self.paths[byte]:
            ones = self.nodes[node].ones(places)
            places = ones if bit else places - ones
        return places

    def bytes_at(self, places: Positions) -> tuple[NDArray[np.uint8], Positions]:
        """Return the bytes at places, and how often each occurs before its own. All are (n,)."""
        found = np.empty(len(places), np.uint8)
        counts = np.empty(len(places), np.int64)
        pending = [(0, np.arange(len(places)), places)]
        while pending:
            node, rows, places = pending.pop()
            ones = self.nodes[node].ones(places)
            bits = self.nodes[node].bits(places)
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
    """Return the bits of every node for a text.

    `text` (n,), the bits of a node (bytes below it,).
    """
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


def packed(bits: NDArray[np.bool_]) -> tuple[Words, Positions]:
    """Return bits as words, and the number of ones before each block.

    `bits` (n,), the words (words,), the numbers (blocks,).
    """
    data = np.packbits(bits, bitorder="little")
    words = np.zeros(-(-len(bits) // WORD_BITS), np.uint64)
    words.view(np.uint8)[: len(data)] = data
    counts = np.bitwise_count(words).astype(np.int64)
    before = np.concatenate([[0], counts.cumsum()])
    return words, before[:-1:BLOCK_WORDS]

"""Token dictionaries, built: byte for byte as other writers build them.

Tokens come by rising bytes. Nodes that no further token can change are written, deepest first; one
that equals a node written lately is not written again. Outputs are moved as near to the start as
they can be.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

from lanceref.index.full_text.fst import HEADER, checksum
from lanceref.index.full_text.fst_node import HEADER_BYTES, Node, Way, encode_node

BUCKETS = 10_000
FNV_START, FNV_PRIME = 14695981039346656037, 1099511628211
NO_NODE = 1
"""Address of the last node while there is none: that of no node."""


@dataclass
class _Open:
    """A node that may still change; `last` is its last way, whose node is not written yet."""

    final: bool = False
    final_output: int = 0
    ways: list[Way] = field(default_factory=list)
    last: tuple[int, int] | None = None

    def freeze(self, address: int) -> None:
        if self.last is not None:
            self.ways.append((*self.last, address))
            self.last = None

    def add_output(self, output: int) -> None:
        """Add to the outputs of everything below."""
        if self.final:
            self.final_output += output
        self.ways = [(octet, own + output, target) for octet, own, target in self.ways]
        if self.last is not None:
            self.last = (self.last[0], self.last[1] + output)


class _Builder:
    def __init__(self) -> None:
        self.out = bytearray(HEADER)
        self._open = [_Open()]
        self._last = NO_NODE
        self._seen: dict[int, list[tuple[Node, int]]] = {}

    def insert(self, token: bytes, output: int) -> None:
        """Add a token behind all others."""
        if not token:
            self._open[0].final, self._open[0].final_output = True, output
            return
        depth = 0
        while depth < len(token):
            top = self._open[depth]
            if top.last is None or top.last[0] != token[depth]:
                break
            shared = min(top.last[1], output)
            rest = top.last[1] - shared
            output -= shared
            top.last = (top.last[0], shared)
            depth += 1
            if rest:
                self._open[depth].add_output(rest)
        self._close(depth)
        self._open[-1].last = (token[depth], output)
        self._open += [_Open(last=(octet, 0)) for octet in token[depth + 1 :]]
        self._open.append(_Open(final=True))

    def finish(self) -> int:
        """Write what is open and return the address of the first node."""
        self._close(0)
        return self._write(self._open[0])

    def _close(self, depth: int) -> None:
        """Write the open nodes below a depth."""
        address: int | None = None
        while len(self._open) > depth + 1:
            node = self._open.pop()
            if address is not None:
                node.freeze(address)
            address = self._write(node)
        if address is not None:
            self._open[-1].freeze(address)

    def _write(self, opened: _Open) -> int:
        node = Node(opened.final, opened.final_output, tuple(opened.ways))
        if node.final and not node.ways and not node.final_output:
            return 0
        cells = self._seen.setdefault(_bucket(node), [])
        for number, (known, address) in enumerate(cells):
            if known == node:
                cells.insert(0, cells.pop(number))
                return address
        self.out += encode_node(node, len(self.out), self._last)
        self._last = len(self.out) - 1
        cells.insert(0, (node, self._last))
        del cells[2:]
        return self._last


def _bucket(node: Node) -> int:
    value = FNV_START
    numbers = [int(node.final), node.final_output, *(one for way in node.ways for one in way)]
    for number in numbers:
        value = (value ^ number) * FNV_PRIME & 0xFFFFFFFFFFFFFFFF
    return value % BUCKETS


def build_fst(tokens: Iterable[tuple[bytes, int]]) -> bytes:
    """Return the dictionary of tokens, by rising bytes, and their numbers."""
    builder, count = _Builder(), 0
    for token, number in tokens:
        builder.insert(token, number)
        count += 1
    root = builder.finish()
    assert len(builder.out) >= HEADER_BYTES
    builder.out += struct.pack("<QQ", count, root)
    return bytes(builder.out) + struct.pack("<I", checksum(bytes(builder.out)))

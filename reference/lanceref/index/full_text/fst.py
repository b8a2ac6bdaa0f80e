"""Token dictionary: the tokens of a partition and the number of each, as a transducer.

Layout (little-endian): u64 version 3; u64 0; the nodes; u64 number of tokens; u64 address of the
first node; u32 checksum: the CRC-32C of all before it, turned right by 15 bits, plus 0xa282ead8.

Clauses: L.index.fts.fst.version, L.index.fts.fst.checksum, L.index.fts.fst.count

Nodes of a token dictionary: a finite-state transducer of which bytes lead where.

A node is found by the offset of its last byte and read backwards. One without a way on and without
output is not written: it has the address 0. The sum of the outputs on the way to the end of a
token, and of the final output there, is the token's number.

Layout: the last byte says which of three forms a node has.

* `11cccccc`: one way on, to the node that ends right before; c > 0 is the byte's place among the
  frequent ones, else the byte stands before.
* `10cccccc`: one way on; backwards: the byte if c is 0, u8 sizes (distance << 4 | output),
  distance, output.
* `0fnnnnnn`: n ways on, f: a token ends here; backwards: u8 count if n is 0 (1: 256), u8 sizes,
  256 bytes of places if there are more than 32, the bytes, the distances, the outputs, the final
  output. The first of each is the nearest to the end.

Distances are from the first byte of the node, 0: to the address 0.

Clauses: L.index.fts.fst.node, L.index.fts.fst.target

Token dictionaries, built: byte for byte as other writers build them.

Tokens come by rising bytes. Nodes that no further token can change are written, deepest first; one
that equals a node written lately is not written again. Outputs are moved as near to the start as
they can be.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lanceref.core.crc32c import crc32c
from lanceref.core.cursor import Cursor
from lanceref.core.errors import BadMagic, CorruptPage, FormatError

FREQUENT = b"te/oasripcnw.hlm-du012g=:bf3y5&_4v9678k%?xCDASFIBEjPTzRNM+LOqHG"
"""Bytes that take no room in a node with one way on."""

HEADER_BYTES = 16
INDEXED = 32
"""Ways on above which a node has a table of places."""

Way = tuple[int, int, int]
"""Byte, output, address of the next node."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node: whether a token ends here, with which output, and the ways on by rising bytes."""

    final: bool = False
    final_output: int = 0
    ways: tuple[Way, ...] = ()


END = Node(True)
"""The node at address 0."""


class _Backwards:
    """Bytes read towards the start."""

    def __init__(self, fst: Cursor, address: int) -> None:
        self._fst, self.at, self._address = fst, address + 1, address

    def take(self, size: int) -> bytes:
        if self.at - size < HEADER_BYTES:
            raise CorruptPage(
                "L.index.fts.fst.node",
                self._fst.ctx.at(self._fst.base + self._address, 1),
                found=f"a node at {self._address} that begins before the first",
                wanted=f"bytes from {HEADER_BYTES} on",
            )
        self.at -= size
        return bytes(self._fst.data[self.at : self.at + size])

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")


def parse_node(fst: Cursor, address: int) -> Node:
    """Parse the node that ends at an address of the dictionary. Raises FormatError."""
    if address == 0:
        return END
    back = _Backwards(fst, address)
    state = back.number(1)
    if state < 0x80:
        return _parse_general(fst, back, state, address)
    place = state & 0x3F
    octet = FREQUENT[place - 1] if place else back.number(1)
    if state >= 0xC0:
        return Node(ways=((octet, 0, _checked(fst, back.at - 1, address)),))
    sizes = back.number(1)
    distance, output = back.number(sizes >> 4), back.number(sizes & 15)
    return Node(ways=((octet, output, _target(fst, back.at, distance, address)),))


def _parse_general(fst: Cursor, back: _Backwards, state: int, address: int) -> Node:
    count = state & 0x3F
    if not count:
        count = back.number(1)
        count = 256 if count == 1 else count
    sizes = back.number(1)
    if count > INDEXED:
        back.take(256)
    octets = [back.number(1) for _ in range(count)]
    distances = [back.number(sizes >> 4) for _ in range(count)]
    outputs = [back.number(sizes & 15) for _ in range(count)]
    final = bool(state & 0x40)
    final_output = back.number(sizes & 15) if final else 0
    targets = [_target(fst, back.at, distance, address) for distance in distances]
    return Node(final, final_output, tuple(zip(octets, outputs, targets, strict=True)))


def _target(fst: Cursor, start: int, distance: int, address: int) -> int:
    return _checked(fst, start - distance, address) if distance else 0


def _checked(fst: Cursor, target: int, address: int) -> int:
    if not HEADER_BYTES <= target < address:
        raise CorruptPage(
            "L.index.fts.fst.target",
            fst.ctx.at(fst.base + address, 1),
            found=f"a way from {address} to {target}",
            wanted="an earlier node",
        )
    return target


def encode_node(node: Node, start: int, last: int) -> bytes:
    """Return a node that begins at `start`, where the one before ends at `last`."""
    if len(node.ways) != 1 or node.final:
        return _encode_general(node, start)
    ((octet, output, target),) = node.ways
    place = FREQUENT.find(octet) + 1
    tail = b"" if place else bytes([octet])
    if target == last and output == 0:
        return tail + bytes([0xC0 | place])
    distance = start - target if target else 0
    sizes = _size(distance) << 4 | (_size(output) if output else 0)
    numbers = _number(output, sizes & 15) + _number(distance, sizes >> 4)
    return numbers + bytes([sizes]) + tail + bytes([0x80 | place])


def _encode_general(node: Node, start: int) -> bytes:
    ways = node.ways[::-1]
    distances = [start - target if target else 0 for _, _, target in ways]
    outputs = [output for _, output, _ in ways]
    width = max((_size(one) for one in distances), default=0)
    values = [node.final_output, *outputs]
    wide = max(map(_size, values)) if any(values) else 0
    out = _number(node.final_output, wide) if node.final else b""
    out += b"".join(_number(one, wide) for one in outputs)
    out += b"".join(_number(one, width) for one in distances)
    out += bytes(octet for octet, _, _ in ways)
    if len(ways) > INDEXED:
        out += _places([octet for octet, _, _ in node.ways])
    out += bytes([width << 4 | wide])
    count = len(ways)
    if not 0 < count < 0x40:
        out += bytes([1 if count == 256 else count])
        count = 0
    return out + bytes([0x40 * node.final | count])


def _places(octets: Sequence[int]) -> bytes:
    """Return of every byte the number of its way on, 255 without one."""
    table = bytearray(b"\xff" * 256)
    for number, octet in enumerate(octets):
        table[octet] = number
    return bytes(table)


def _size(value: int) -> int:
    return max(1, (value.bit_length() + 7) // 8)


def _number(value: int, size: int) -> bytes:
    return value.to_bytes(size, "little")


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

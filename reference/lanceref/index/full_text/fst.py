"""Token dictionary: the tokens of a partition and the number of each, as a transducer.

A finite-state transducer of which bytes lead where. A node is found by the offset of its last byte
and read backwards. One without a way on and without output is not written: it has the address 0.
The sum of the outputs on the way to the end of a token, and of the final output there, is the
token's number. Writers add tokens by rising bytes, and write nodes that no further token can
change, deepest first; one that equals a node written lately is not written again. Outputs are moved
as near to the start as they can be.

Layout (little-endian): u64 version 3; u64 0; the nodes; u64 number of tokens; u64 address of the
first node; u32 checksum: the CRC-32C of all before it, turned right by 15 bits, plus 0xa282ead8.
The last byte of a node has one of three forms.

* `11cccccc`: one way on, to the node that ends right before; c > 0 is the byte's place among the
  frequent ones, else the byte is before.
* `10cccccc`: one way on; backwards: the byte if c is 0, u8 sizes (distance << 4 | output),
  distance, output.
* `0fnnnnnn`: n ways on, f: a token ends here; backwards: u8 count if n is 0 (1: 256), u8 sizes,
  256 bytes of places if there are more than 32, the bytes, the distances, the outputs, the final
  output. The first of each is the nearest to the end.

Distances are from the first byte of the node, 0: to the address 0.

Clauses: L.index.fts.fst.version, L.index.fts.fst.checksum, L.index.fts.fst.count,
L.index.fts.fst.node, L.index.fts.fst.target, L.index.fts.fuzzy
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lanceref.core.context import expect
from lanceref.core.crc32c import crc32c
from lanceref.core.cursor import Cursor
from lanceref.core.errors import BadMagic, CorruptPage, FormatError

VERSION = 3
HEADER = struct.pack("<QQ", VERSION, 0)
HEADER_BYTES = 16
FOOTER_BYTES = 20
MASK = 0xA282EAD8

FREQUENT = b"te/oasripcnw.hlm-du012g=:bf3y5&_4v9678k%?xCDASFIBEjPTzRNM+LOqHG"
"""Bytes that take no room in a node with one way on."""

INDEXED = 32
"""Ways on above which a node has a table of places."""

LONGEST = 1 << 16
"""Bytes that a token may have at most."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node: whether a token ends here, with which output, and the ways on by rising bytes.

    A way has a byte, an output, and the address of the next node.
    """

    final: bool = False
    final_output: int = 0
    ways: tuple[tuple[int, int, int], ...] = ()


END = Node(True)
"""The node at address 0."""


class _Backwards:
    """Bytes of a node, read towards the start."""

    def __init__(self, fst: Cursor, address: int) -> None:
        self._fst, self.at, self._address = fst, address + 1, address

    def take(self, size: int) -> bytes:
        if self.at - size < HEADER_BYTES:
            place = self._fst.ctx.at(self._fst.base + self._address, 1)
            found = f"a node at {self._address} that begins before the first"
            wanted = f"bytes from {HEADER_BYTES} on"
            raise CorruptPage("L.index.fts.fst.node", place, found, wanted)
        self.at -= size
        return bytes(self._fst.data[self.at : self.at + size])

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def target(self, distance: int | None = None) -> int:
        """Return the address at a distance, None: of the byte right before."""
        if distance == 0:
            return 0
        target = self.at - (1 if distance is None else distance)
        if not HEADER_BYTES <= target < self._address:
            place = self._fst.ctx.at(self._fst.base + self._address, 1)
            found = f"a way from {self._address} to {target}"
            raise CorruptPage("L.index.fts.fst.target", place, found, "an earlier node")
        return target


def parse_node(fst: Cursor, address: int) -> Node:
    """Parse the node that ends at an address of the dictionary. Raises FormatError."""
    if address == 0:
        return END
    back = _Backwards(fst, address)
    state = back.number(1)
    if state >= 0x80:
        place = state & 0x3F
        octet = FREQUENT[place - 1] if place else back.number(1)
        if state >= 0xC0:
            return Node(ways=((octet, 0, back.target()),))
        sizes = back.number(1)
        distance, output = back.number(sizes >> 4), back.number(sizes & 15)
        return Node(ways=((octet, output, back.target(distance)),))
    count, final = state & 0x3F, bool(state & 0x40)
    if not count:
        count = back.number(1)
        count = 256 if count == 1 else count
    sizes = back.number(1)
    if count > INDEXED:
        back.take(256)
    octets = [back.number(1) for _ in range(count)]
    distances = [back.number(sizes >> 4) for _ in range(count)]
    outputs = [back.number(sizes & 15) for _ in range(count)]
    final_output = back.number(sizes & 15) if final else 0
    targets = map(back.target, distances)
    return Node(final, final_output, tuple(zip(octets, outputs, targets, strict=True)))


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
    size, wide = _size(distance), _size(output) if output else 0
    sizes = bytes([size << 4 | wide])
    numbers = output.to_bytes(wide, "little") + distance.to_bytes(size, "little")
    return numbers + sizes + tail + bytes([0x80 | place])


def _encode_general(node: Node, start: int) -> bytes:
    ways = node.ways[::-1]
    distances = [start - target if target else 0 for _, _, target in ways]
    outputs = [output for _, output, _ in ways]
    size = max(map(_size, distances), default=0)
    numbers = [node.final_output, *outputs]
    wide = max(map(_size, numbers)) if any(numbers) else 0
    if node.final:
        outputs = [node.final_output, *outputs]
    out = b"".join(one.to_bytes(wide, "little") for one in outputs)
    out += b"".join(one.to_bytes(size, "little") for one in distances)
    out += bytes(octet for octet, _, _ in ways)
    if len(ways) > INDEXED:
        table = bytearray(b"\xff" * 256)  # of every byte the number of its way on
        for number, (octet, _, _) in enumerate(node.ways):
            table[octet] = number
        out += table
    count = len(ways) if 0 < len(ways) < 0x40 else 0
    extra = b"" if count else bytes([1 if len(ways) == 256 else len(ways)])
    return out + bytes([size << 4 | wide]) + extra + bytes([0x40 * node.final | count])


def _size(value: int) -> int:
    return max(1, (value.bit_length() + 7) // 8)


def checksum(data: bytes | memoryview) -> int:
    """Return the CRC-32C of bytes, masked as the FST format masks it."""
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
        seen, cursor = 0, self._cursor
        stack = [(self.root, b"", 0)]
        while stack:
            address, token, value = stack.pop()
            node = self.node(address)
            if node.final:
                seen += 1
                yield token, value + node.final_output
            if seen > self.count or len(token) > LONGEST:
                break
            if not node.final and not node.ways and self.count:
                place, found = cursor.ctx.at(cursor.base + address, 1), f"an end at {address}"
                raise CorruptPage("L.index.fts.fst.node", place, found, "a token")
            for octet, output, target in reversed(node.ways):
                stack.append((target, token + bytes([octet]), value + output))
        if seen != self.count:
            found = f"{seen} tokens" if seen < self.count else "more tokens"
            place = cursor.ctx.at(cursor.base, len(cursor.data))
            raise CorruptPage("L.index.fts.fst.count", place, found, f"{self.count}")

    def node(self, address: int) -> Node:
        """Return the node at an address. Raises FormatError."""
        return parse_node(self._cursor, address)


def parse_fst(cursor: Cursor) -> Fst:
    """Parse the frame of the dictionary that fills `cursor`. Raises FormatError."""
    data, base, ctx = cursor.data, cursor.base, cursor.ctx
    clause = "L.index.fts.fst.version"
    cursor.require(HEADER_BYTES + FOOTER_BYTES, "token dictionary", clause)
    version = cursor.u64("version of the dictionary", clause)
    expect(clause, version, VERSION, ctx.at(base, 8), BadMagic)
    end = len(data) - FOOTER_BYTES
    count, root, stored = struct.unpack("<QQI", data[end:])
    place, computed = ctx.at(base + len(data) - 4, 4), checksum(data[:-4])
    expect("L.index.fts.fst.checksum", f"{stored:08x}", f"{computed:08x}", place)
    if root and not HEADER_BYTES <= root < end:
        place, found = ctx.at(base + end + 8, 8), f"a first node at {root}"
        wanted = f"between {HEADER_BYTES} and {end}"
        raise FormatError("L.index.fts.fst.target", place, found, wanted)
    return Fst(cursor, root, count)


BUCKETS = 10_000
FNV_START, FNV_PRIME = 14695981039346656037, 1099511628211
NO_NODE = 1
"""Address of the last node while there is none: that of no node."""


@dataclass
class _OpenNode:
    """A node that may still change: its last way, to a node that is not written yet, is open."""

    final: bool = False
    final_output: int = 0
    ways: list[list[int]] = field(default_factory=list)

    def add_output(self, output: int) -> None:
        """Add to the outputs of everything below."""
        if self.final:
            self.final_output += output
        for way in self.ways:
            way[1] += output


class _Builder:
    def __init__(self) -> None:
        self.out = bytearray(HEADER)
        self._open = [_OpenNode()]
        self._last = NO_NODE
        self._seen: dict[int, list[tuple[Node, int]]] = {}

    def insert(self, token: bytes, output: int) -> None:
        """Add a token that follows all others."""
        if not token:
            self._open[0].final, self._open[0].final_output = True, output
            return
        depth = 0
        while depth < len(token):
            ways = self._open[depth].ways
            if not ways or ways[-1][0] != token[depth]:
                break
            # What both tokens share of their outputs stays; the rest of the older moves one way on.
            shared = min(ways[-1][1], output)
            rest = ways[-1][1] - shared
            output -= shared
            ways[-1][1] = shared
            depth += 1
            if rest:
                self._open[depth].add_output(rest)
        # Nodes below the shared prefix get no more ways: they are written.
        self._close(depth)
        for octet in token[depth:]:
            self._open[-1].ways.append([octet, output, 0])
            self._open.append(_OpenNode())
            output = 0
        self._open[-1].final = True

    def finish(self) -> int:
        """Write the open nodes and return the address of the first one."""
        self._close(0)
        return self._write(self._open[0])

    def _close(self, depth: int) -> None:
        while len(self._open) > depth + 1:
            address = self._write(self._open.pop())
            self._open[-1].ways[-1][2] = address

    def _write(self, opened: _OpenNode) -> int:
        ways = tuple(map(tuple, opened.ways))
        node = Node(opened.final, opened.final_output, ways)  # type: ignore[arg-type]
        if node == END:
            return 0
        bucket = FNV_START
        values = (one for way in node.ways for one in way)
        for number in (int(node.final), node.final_output, *values):
            bucket = (bucket ^ number) * FNV_PRIME & 0xFFFFFFFFFFFFFFFF
        cells = self._seen.setdefault(bucket % BUCKETS, [])
        for number, (known, address) in enumerate(cells):
            if known == node:
                cells.insert(0, cells.pop(number))
                return address
        self.out += encode_node(node, len(self.out), self._last)
        self._last = len(self.out) - 1
        cells.insert(0, (node, self._last))
        del cells[2:]
        return self._last


def build_fst(tokens: Iterable[tuple[bytes, int]]) -> bytes:
    """Return the dictionary of tokens, by rising bytes, and numbers, as other writers encode it."""
    builder, count = _Builder(), 0
    for token, number in tokens:
        builder.insert(token, number)
        count += 1
    root = builder.finish()
    builder.out += struct.pack("<QQ", count, root)
    return bytes(builder.out) + struct.pack("<I", checksum(bytes(builder.out)))


Row = tuple[int, ...]
"""Edits from each beginning of the wanted token to the characters that have been read."""


def near(tokens: Mapping[str, int] | Fst, wanted: str, edits: int, prefix: str) -> Iterator[str]:
    """Yield the tokens with a prefix within so many edits, by rising bytes.

    An edit adds, drops or replaces a character.
    """
    first = tuple(range(len(wanted) + 1))
    if isinstance(tokens, Fst):
        yield from (one for one in _walk(tokens, wanted, edits, first) if one.startswith(prefix))
        return
    for token in sorted(tokens):
        row = first
        for character in token:
            row = advanced(row, character, wanted)
        if row[-1] <= edits and token.startswith(prefix):
            yield token


def advanced(row: Row, character: str, wanted: str) -> Row:
    """Return the edits when another character has been read."""
    edits = [row[0] + 1]
    for at, own in enumerate(wanted):
        edits.append(min(row[at] + (own != character), row[at + 1] + 1, edits[at] + 1))
    return tuple(edits)


def _walk(fst: Fst, wanted: str, edits: int, first: Row) -> Iterator[str]:
    """Walk the dictionary where it may still come near; `rest` is a character half read."""
    stack = [(fst.root, "", b"", first)]
    while stack:
        address, token, rest, row = stack.pop()
        node = fst.node(address)
        if node.final and not rest and row[-1] <= edits:
            yield token
        for octet, _, target in reversed(node.ways):
            data = rest + bytes([octet])
            try:
                character = data.decode()
            except UnicodeDecodeError:
                if len(data) < 4:
                    stack.append((target, token, data, row))
                continue
            after = advanced(row, character, wanted)
            if min(after) <= edits:
                stack.append((target, token + character, b"", after))

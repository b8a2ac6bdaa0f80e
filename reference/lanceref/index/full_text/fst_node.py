"""Nodes of a token dictionary: a finite-state transducer of which bytes lead where.

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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage

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

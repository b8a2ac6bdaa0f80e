"""Mutations: damages of a file, drawn from a seed.

A mutation truncates the file, overwrites some of its bytes, or appends bytes. There are about 300
for one file: truncations, flips of a bit or a byte, huge numbers in place of offsets and counts,
other first bytes of page buffers, zeroed buffers and slices, swapped buffers, other magics and
versions, appended bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from random import Random

from lanceref_testing.anatomy import DATA, PAGES, Anatomy

TRUNCATIONS = 38
METADATA_FLIPS = 60
DATA_FLIPS = 70
TAIL_BYTES = 40
SLICES = 16
APPENDED = b"\x00APPEND"

HUGE = (2**64 - 1, 2**63 - 1, 2**62, 2**40, 2**33)
"""Numbers beyond any file, besides zero and the size of the file plus one."""

HEADS = tuple((width, byte) for width in (2, 4, 8) for byte in (0xFF, 0x7F, 0x00))
"""Replacements for the first bytes of a page buffer: count and value."""

MAGICS = (b"LANX", b"PAR1", bytes(4))

VERSIONS = (
    *((0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (2, 1), (2, 2), (2, 3), (2, 4), (3, 0)),
    (0xFFFF, 0xFFFF),
)
"""Version words, without those of the file."""

MAX_SWAPS = 3

TRUNCATION, FLIP = "truncation", "byte flip"
"""Kinds of mutations."""

MASKS = (0x01, 0x80, 0xFF)
"""Lowest bit, highest bit, all bits."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One mutation: bytes kept from the start, patches (offset, bytes), appended bytes."""

    kind: str
    detail: str
    patches: tuple[tuple[int, bytes], ...] = ()
    keep: int | None = None
    append: bytes = b""

    @property
    def name(self) -> str:
        """Unique among the mutations of a file."""
        return f"{self.kind}@{self.detail}"

    def apply(self, data: bytes) -> bytes:
        """Return the damaged bytes."""
        damaged = bytearray(data[: self.keep])
        for at, patch in self.patches:
            damaged[at : at + len(patch)] = patch
        return bytes(damaged) + self.append

    def changed(self, data: bytes) -> list[int]:
        """Return the offsets of the patched bytes that differ."""
        ranges = (range(at, at + len(patch)) for at, patch in self.patches)
        damaged = self.apply(data)
        return [at for patched in ranges for at in patched if damaged[at] != data[at]]


def flip(data: bytes, at: int, mask: int) -> Mutation:
    """Return the mutation that flips the bits of a mask in a byte."""
    return Mutation(FLIP, f"{at}^{mask:02x}", ((at, bytes([data[at] ^ mask])),))


def mutations(anatomy: Anatomy, rng: Random) -> list[Mutation]:
    """Return the distinct mutations that change a file, in a fixed order."""
    by_name: dict[str, Mutation] = {}
    for mutation in _all(anatomy, rng):
        if mutation.apply(anatomy.data) != anatomy.data:
            by_name.setdefault(mutation.name, mutation)
    return list(by_name.values())


def _all(anatomy: Anatomy, rng: Random) -> Iterator[Mutation]:
    yield from _truncations(len(anatomy.data), rng)
    yield from _flips(anatomy, rng)
    yield from _huge_numbers(anatomy)
    yield from _heads(anatomy)
    yield from _zeros(anatomy)
    yield from _swaps(anatomy)
    yield from _foreign(anatomy)
    yield Mutation("appended bytes", "7", append=APPENDED)


def _truncations(size: int, rng: Random) -> Iterator[Mutation]:
    small = (0, 1, 2, 3, 4, 8, 15, 16, 20, 39, 40, 41)
    points = {*small, *(size - n for n in (1, 2, 4, 7, 8, 16, 32, 39, 40, 41, 64)), size // 2}
    points = {point for point in points if 0 <= point < size}
    while len(points) < min(TRUNCATIONS, size):
        points.add(rng.randrange(size))
    for point in sorted(points):
        yield Mutation(TRUNCATION, str(point), keep=point)


def _flips(anatomy: Anatomy, rng: Random) -> Iterator[Mutation]:
    size = len(anatomy.data)
    tail = range(max(0, size - TAIL_BYTES), size)
    inside = [at for at in range(tail.start) if anatomy.region(at) not in (PAGES, DATA, "padding")]
    values = [at for at in range(tail.start) if anatomy.region(at) in (PAGES, DATA, "padding")]
    chosen = [*tail, *_some(inside, METADATA_FLIPS, rng), *_some(values, DATA_FLIPS, rng)]
    for number, at in enumerate(chosen):
        mask = 0xFF if number % 2 else 1 << rng.randrange(8)
        yield flip(anatomy.data, at, mask)


def _some(positions: Sequence[int], count: int, rng: Random) -> list[int]:
    return sorted(rng.sample(positions, min(count, len(positions))))


def _huge_numbers(anatomy: Anatomy) -> Iterator[Mutation]:
    for at, width in anatomy.words:
        for number in (*HUGE, len(anatomy.data) + 1, 0):
            patch = min(number, 2 ** (8 * width) - 1).to_bytes(width, "little")
            yield Mutation(
                "huge numbers", f"{at}={int.from_bytes(patch, 'little')}", ((at, patch),)
            )


def _heads(anatomy: Anatomy) -> Iterator[Mutation]:
    for start, end in anatomy.buffers:
        for width, byte in HEADS:
            patch = bytes([byte]) * min(width, end - start)
            detail = f"{start}={len(patch)}x{byte:02x}"
            yield Mutation("page-buffer head", detail, ((start, patch),))


def _zeros(anatomy: Anatomy) -> Iterator[Mutation]:
    size = len(anatomy.data)
    edges = [size * n // SLICES for n in range(SLICES + 1)]
    for start, end in (*anatomy.buffers, *pairwise(edges)):
        yield Mutation("zeroed region", f"{start}..{end}", ((start, bytes(end - start)),))


def _swaps(anatomy: Anatomy) -> Iterator[Mutation]:
    data = anatomy.data
    for one, other in list(combinations(anatomy.buffers, 2))[:MAX_SWAPS]:
        length = min(one[1] - one[0], other[1] - other[0])
        patches = (
            (one[0], data[other[0] : other[0] + length]),
            (other[0], data[one[0] : one[0] + length]),
        )
        yield Mutation("swapped buffers", f"{one[0]}<>{other[0]}", patches)


def _foreign(anatomy: Anatomy) -> Iterator[Mutation]:
    if not anatomy.has_versions:
        return
    size = len(anatomy.data)
    for magic in MAGICS:
        yield Mutation("wrong magic", magic.hex(), ((size - 4, magic),))
    for major, minor in VERSIONS:
        words = major.to_bytes(2, "little") + minor.to_bytes(2, "little")
        yield Mutation("wrong version", f"{major}.{minor}", ((size - 8, words),))

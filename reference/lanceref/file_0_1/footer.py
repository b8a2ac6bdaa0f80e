"""Footer: the last 16 bytes of a 0.1 file.

It says where the metadata message lies. The version words are those of 0.2, the name the format had
last; a manifest calls the same format 0.1.

Layout (little-endian)::

    0   u64  metadata_position   of the u32 length before the metadata message
    8   u16  major, 0
    10  u16  minor, 2
    12  4s   "LANC"

Clauses: L.legacy.footer.size, L.legacy.footer.magic, L.legacy.footer.version,
L.legacy.footer.version-written, L.legacy.footer.position

Divergences: D.legacy.footer-unchecked, D.legacy.version-names
"""

from __future__ import annotations

from dataclasses import dataclass

from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BadMagic, OutOfRange, Truncated, UnknownVersion
from lanceref.core.file_versions import FOOTER_WORDS, FROM_WORDS, V0_1
from lanceref.storage import Source

FOOTER_BYTES = 16
"""Size of the footer."""

MAGIC = b"LANC"
"""Last four bytes."""

LENGTH_BYTES = 4
"""Size of the length before a message."""


@dataclass(frozen=True, slots=True)
class Footer:
    """Where the metadata lies; `start` is the footer's own offset, `words` the version."""

    metadata_position: int
    start: int
    words: tuple[int, int] = FOOTER_WORDS[V0_1]


def parse_footer(file: FileBytes) -> Footer:
    """Parse the last 16 bytes of the file and check them against its size."""
    if file.size < FOOTER_BYTES:
        raise Truncated(
            "L.legacy.footer.size",
            file.ctx.at(0, file.size),
            found=f"a file of {file.size} bytes",
            wanted=f"at least the {FOOTER_BYTES} bytes of a footer",
        )
    start = file.size - FOOTER_BYTES
    cursor = file.cursor(Extent(start, FOOTER_BYTES), "footer", "L.legacy.footer.size")
    with file.ctx.group("footer"):
        position = cursor.u64("metadata_position", "L.legacy.footer.position")
        words = (
            cursor.u16("major", "L.legacy.footer.version"),
            cursor.u16("minor", "L.legacy.footer.version"),
        )
        magic = bytes(cursor.take(4, "magic", "L.legacy.footer.magic", "magic"))
    if magic != MAGIC:
        raise BadMagic(
            "L.legacy.footer.magic",
            file.ctx.at(start + 12, 4),
            found=magic.hex(),
            wanted=MAGIC.hex(),
        )
    _check_version(words, file, start)
    if position + LENGTH_BYTES > start:
        raise OutOfRange(
            "L.legacy.footer.position",
            file.ctx.at(start, 8),
            found=f"metadata at {position}",
            wanted=f"a length that ends before the footer at {start}",
        )
    return Footer(position, start, words)


def _check_version(words: tuple[int, int], file: FileBytes, start: int) -> None:
    place = file.ctx.at(start + 8, 4)
    if FROM_WORDS.get(words) != V0_1:
        raise UnknownVersion(
            "L.legacy.footer.version",
            place,
            found=f"version words {words[0]}, {words[1]}",
            wanted="0 and at most 2",
        )


def lint_words(footer: Footer, file: FileBytes) -> None:
    """Report version words that only the first releases wrote."""
    if footer.words != FOOTER_WORDS[V0_1]:
        place = file.ctx.at(footer.start + 8, 4)
        file.ctx.lint("L.legacy.footer.version-written", place, found=footer.words, wanted="0, 2")


def write_footer(metadata_position: int) -> bytes:
    """Return the 16 bytes that end a file."""
    major, minor = FOOTER_WORDS[V0_1]
    words = major.to_bytes(2, "little") + minor.to_bytes(2, "little")
    return metadata_position.to_bytes(8, "little") + words + MAGIC


def is_legacy(source: Source) -> bool:
    """Whether the version words and the magic at the end of a file are those of 0.1."""
    end = bytes(source.read(max(0, source.size - 8), 8))
    words = (int.from_bytes(end[:2], "little"), int.from_bytes(end[2:4], "little"))
    return end[4:] == MAGIC and FROM_WORDS.get(words) == V0_1

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

Metadata: what a 0.1 file says of itself.

The message the footer points at. It counts the rows of every batch (row group) and says where the
page table, the statistics and the embedded manifest lie.

Layout: u32 length, then message lance.file.Metadata: 1 manifest_position (0: no manifest), 2
batch_offsets, 3 page_table_position, 5 statistics {1 schema, 2 fields, 3 page_table_position}.
Batch offsets are the rows before each batch and, last, all rows.

Clauses: L.legacy.metadata.length, L.legacy.metadata.message, L.legacy.metadata.end,
L.legacy.metadata.batch-offsets, L.legacy.metadata.batches

Divergences: D.legacy.length-prefix, D.legacy.batch-offsets-cumulative
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BadMagic, CorruptPage, OutOfRange, Place, Truncated, UnknownVersion
from lanceref.core.file_versions import FOOTER_WORDS, FROM_WORDS, V0_1
from lanceref.core.wire import M, parse_message
from lanceref.proto import file_pb2
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


@dataclass(frozen=True, slots=True)
class Metadata:
    """The message, its extent (length included), and rows before each batch, shape (batches+1,)."""

    message: file_pb2.Metadata
    extent: Extent
    batch_offsets: NDArray[np.int64]
    place: Place

    @property
    def num_rows(self) -> int:
        """Rows of the file."""
        return int(self.batch_offsets[-1])

    @property
    def num_batches(self) -> int:
        """Batches of the file."""
        return len(self.batch_offsets) - 1


def parse_metadata(file: FileBytes, footer: Footer) -> Metadata:
    """Parse the message and check the batch offsets."""
    extent, message = parse_section(
        file,
        footer.metadata_position,
        footer.start,
        file_pb2.Metadata,
        ("metadata", "L.legacy.metadata.length", "L.legacy.metadata.message"),
    )
    place = file.ctx.at(extent.offset, extent.size)
    if extent.end != footer.start:
        file.ctx.lint(
            "L.legacy.metadata.end",
            place,
            found=f"metadata that ends at {extent.end}",
            wanted=f"{footer.start}, where the footer begins",
        )
    offsets = np.array(message.batch_offsets, dtype=np.int64)
    if len(offsets) < 2:
        raise CorruptPage(
            "L.legacy.metadata.batches",
            place,
            found=f"{len(offsets)} batch offsets",
            wanted="two or more: a file has a batch",
        )
    if offsets[0] != 0 or (np.diff(offsets) <= 0).any():
        raise CorruptPage(
            "L.legacy.metadata.batch-offsets",
            place,
            found=f"batch offsets {offsets[:8].tolist()}",
            wanted="0, then numbers that grow",
        )
    return Metadata(message, extent, offsets, place)


def parse_section(
    file: FileBytes, position: int, end: int, cls: type[M], named: tuple[str, str, str]
) -> tuple[Extent, M]:
    """Parse a u32 length and a message that end by `end`; return the extent of both.

    `named` gives the name of the message and the clauses of its length and its content.
    """
    name, length_clause, clause = named
    with file.ctx.group(f"{name} section"):
        size_place = Extent(position, LENGTH_BYTES)
        size = file.cursor(size_place, name, length_clause).u32("length", length_clause)
        extent = Extent(position, LENGTH_BYTES + size)
        if extent.end > end:
            raise Truncated(
                length_clause,
                file.ctx.at(position, LENGTH_BYTES),
                found=f"{name} of {size} bytes at {position}",
                wanted=f"at most {end - position - LENGTH_BYTES} bytes",
            )
        body = Extent(position + LENGTH_BYTES, size)
        return extent, parse_message(file.cursor(body, name, clause), cls, name, clause)


def write_section(message: bytes) -> bytes:
    """Return a message after its length."""
    return len(message).to_bytes(LENGTH_BYTES, "little") + message

"""Footer and metadata: the end of a 0.1 file, and the message it points at.

The last 16 bytes say where the metadata lies. The version words are those of 0.2, the name the
format had last; a manifest calls the same format 0.1. The metadata counts the rows of every batch
(row group) and says where the page table, the statistics and the embedded manifest lie.

Layout of the footer (little-endian)::

    0   u64  metadata_position   of the u32 length before the metadata message
    8   u16  major, 0
    10  u16  minor, 2
    12  4s   "LANC"

Layout of the metadata: u32 length, then message lance.file.Metadata: 1 manifest_position (0: no
manifest), 2 batch_offsets, 3 page_table_position, 5 statistics {1 schema, 2 fields, 3
page_table_position}. Batch offsets are the rows before each batch and, last, all rows.

Clauses: L.legacy.footer.size, L.legacy.footer.magic, L.legacy.footer.version,
L.legacy.footer.version-written, L.legacy.footer.position, L.legacy.metadata.length,
L.legacy.metadata.message, L.legacy.metadata.end, L.legacy.metadata.batch-offsets,
L.legacy.metadata.batches

Divergences: D.legacy.footer-unchecked, D.legacy.version-names, D.legacy.length-prefix,
D.legacy.batch-offsets-cumulative
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import CorruptPage, OutOfRange, Place, Truncated, UnknownVersion
from lanceref.core.file_versions import FOOTER_WORDS, FROM_WORDS, V0_1
from lanceref.core.wire import M, parse_message
from lanceref.file.container import MAGIC, footer_cursor, parse_version
from lanceref.proto import file_pb2
from lanceref.storage import Source

FOOTER_BYTES = 16
"""Size of the footer."""

LENGTH_BYTES = 4
"""Size of the length before a message."""


@dataclass(frozen=True, slots=True)
class Footer:
    """Where the metadata lies; `start` is the footer's own offset, `words` the version."""

    metadata_position: int
    start: int
    words: tuple[int, int] = FOOTER_WORDS[V0_1]


def parse_footer(file: FileBytes) -> Footer:
    """Parse the last 16 bytes of the file and check them against its size.

    Raises OutOfRange, UnknownVersion.
    """
    cursor = footer_cursor(file, FOOTER_BYTES, "L.legacy.footer.size")
    start = cursor.offset
    with file.ctx.group("footer"):
        position = cursor.u64("metadata_position", "L.legacy.footer.position")
        words = parse_version(cursor, "L.legacy.footer.version", "L.legacy.footer.magic")
    if FROM_WORDS.get(words) != V0_1:
        clause, place = "L.legacy.footer.version", file.ctx.at(start + 8, 4)
        raise UnknownVersion(clause, place, words, "0 and at most 2")
    if position + LENGTH_BYTES > start:
        clause, wanted = "L.legacy.footer.position", f"a length before the footer at {start}"
        raise OutOfRange(clause, file.ctx.at(start, 8), position, wanted)
    return Footer(position, start, words)


def lint_words(footer: Footer, file: FileBytes) -> None:
    """Report version words that only the first releases wrote."""
    if footer.words != FOOTER_WORDS[V0_1]:
        place = file.ctx.at(footer.start + 8, 4)
        file.ctx.lint("L.legacy.footer.version-written", place, footer.words, "0, 2")


def write_footer(metadata_position: int) -> bytes:
    """Return the 16 bytes that end a file."""
    words = b"".join(word.to_bytes(2, "little") for word in FOOTER_WORDS[V0_1])
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
        return int(self.batch_offsets[-1])

    @property
    def num_batches(self) -> int:
        return len(self.batch_offsets) - 1


def parse_metadata(file: FileBytes, footer: Footer) -> Metadata:
    """Parse the message and check the batch offsets. Raises CorruptPage."""
    clauses = ("L.legacy.metadata.length", "L.legacy.metadata.message")
    position, end = footer.metadata_position, footer.start
    extent, message = parse_section(file, position, end, file_pb2.Metadata, clauses)
    place = file.ctx.at(extent.offset, extent.size)
    if extent.end != end:
        file.ctx.lint("L.legacy.metadata.end", place, extent.end, f"{end}, where the footer begins")
    offsets = np.array(message.batch_offsets, dtype=np.int64)
    if len(offsets) < 2:
        clause, found = "L.legacy.metadata.batches", f"{len(offsets)} batch offsets"
        raise CorruptPage(clause, place, found, "two or more")
    if offsets[0] != 0 or (np.diff(offsets) <= 0).any():
        clause, found = "L.legacy.metadata.batch-offsets", offsets[:8].tolist()
        raise CorruptPage(clause, place, found, "0, then numbers that grow")
    return Metadata(message, extent, offsets, place)


def parse_section(
    file: FileBytes, position: int, end: int, cls: type[M], clauses: tuple[str, str]
) -> tuple[Extent, M]:
    """Parse a u32 length and a message that end by `end`; return the extent of both.

    `clauses` are those of the length and of the message. Raises Truncated.
    """
    (length_clause, message_clause), name = clauses, cls.DESCRIPTOR.name.lower()
    with file.ctx.group(f"{name} section"):
        cursor = file.cursor(Extent(position, LENGTH_BYTES), name, length_clause)
        size = cursor.u32("length", length_clause)
        extent = Extent(position, LENGTH_BYTES + size)
        if extent.end > end:
            place, found = file.ctx.at(position, LENGTH_BYTES), f"{size} bytes at {position}"
            wanted = f"at most {end - position - LENGTH_BYTES} bytes"
            raise Truncated(length_clause, place, found, wanted)
        body = file.cursor(Extent(position + LENGTH_BYTES, size), name, message_clause)
        return extent, parse_message(body, cls, name, message_clause)


def write_section(message: bytes) -> bytes:
    """Return the bytes of a message, preceded by their number as u32."""
    return len(message).to_bytes(LENGTH_BYTES, "little") + message

"""Metadata: what a 0.1 file says of itself.

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
from lanceref.core.errors import CorruptPage, Place, Truncated
from lanceref.core.wire import M, parse_message
from lanceref.file_0_1.footer import LENGTH_BYTES, Footer
from lanceref.proto import file_pb2


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

"""Offset tables: where column metadata and global buffers lie.

Two tables stand between the last column metadata and the footer: CMO (column metadata offsets),
then GBO (global buffer offsets).

Layout of an entry (16 bytes): u64 position, u64 size, absolute.

Clauses: L.file.cmo.entry, L.file.gbo.entry
"""

from __future__ import annotations

from lanceref.core.cursor import Cursor, Extent

ENTRY_BYTES = 16
"""Bytes of one entry."""


def parse_offsets(cursor: Cursor, count: int, name: str, clause: str) -> list[Extent]:
    """Parse `count` entries; what they point at is bounded by who reads it."""
    cursor.require(count * ENTRY_BYTES, f"{count} entries of {name}", clause)
    with cursor.ctx.group(name, clause):
        return [
            Extent(
                cursor.u64(f"{name}[{i}].position", clause), cursor.u64(f"{name}[{i}].size", clause)
            )
            for i in range(count)
        ]

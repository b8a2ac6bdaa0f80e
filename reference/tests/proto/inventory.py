"""Every feature the oracle can be brought to write, and the fields it never fills."""

from __future__ import annotations

from . import file_rows, scalar_index_rows, table_rows, vector_index_rows
from .row import Row

CHAPTERS = {
    "file": file_rows,
    "table": table_rows,
    "scalar index": scalar_index_rows,
    "vector index": vector_index_rows,
}
INVENTORY: dict[str, Row] = {
    f"{name}: {feature}": row
    for name, chapter in CHAPTERS.items()
    for feature, row in chapter.ROWS.items()
}
NOT_WRITTEN: dict[str, str] = {
    field: reason for chapter in CHAPTERS.values() for field, reason in chapter.NOT_WRITTEN.items()
}
"""Field, as `Message.field` -> why no row shows it."""

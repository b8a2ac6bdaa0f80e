"""Every feature the oracle can be brought to write: name -> row."""

from __future__ import annotations

from . import container_rows, encoding_rows, scalar_index_rows, table_rows, vector_index_rows
from .row import Row

CHAPTERS: dict[str, dict[str, Row]] = {
    "container": container_rows.ROWS,
    "encodings": encoding_rows.ROWS,
    "table": table_rows.ROWS,
    "scalar index": scalar_index_rows.ROWS,
    "vector index": vector_index_rows.ROWS,
}
INVENTORY = {
    f"{chapter}: {name}": row for chapter, rows in CHAPTERS.items() for name, row in rows.items()
}

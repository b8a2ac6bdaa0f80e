"""Field writers of 2.1 to 2.3: how rows of a field become pages."""

from __future__ import annotations

from lanceref.errors import NotStorable
from lanceref.file.column_writer import FieldWriter, PagePolicy
from lanceref.file.schema import Field
from lanceref.file.versions import FileVersion


def open_writer(
    field: Field, first_column: int, version: FileVersion, policy: PagePolicy
) -> FieldWriter:
    """Return the writer of a field whose first physical column is `first_column`."""
    raise NotStorable(f"field {field.name!r}: 2.1 to 2.3 is not written yet")

"""Row lineage: the id of every row of a fragment, and the versions that made and last changed it.

Tables with stable row ids keep them, deleted rows included, either inline in the manifest or, where
flag 2 048 allows it, in a hidden column of one of the fragment's files. Without a sequence both
versions are 1.

Layout: DataFragment 5, 9, 7 inline sequences; 12, 14, 13: the columns -3, -4, -5 hold them.

Clauses: L.table.row-ids.length, L.table.row-ids.column
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, Place
from lanceref.file.column_io import ColumnReader
from lanceref.table.columns import FragmentReader
from lanceref.table.row_ids import RowIds, RowVersions, decode_row_ids, decode_versions

ROW_ID = "_rowid"
CREATED_AT = "_row_created_at_version"
LAST_UPDATED_AT = "_row_last_updated_at_version"


STORED = {
    ROW_ID: ("inline_row_ids", "column_row_ids", -3),
    CREATED_AT: ("inline_created_at_versions", "column_created_at_versions", -4),
    LAST_UPDATED_AT: ("inline_last_updated_at_versions", "column_last_updated_at_versions", -5),
}
"""Fields of the message for each inline, and in a hidden column; the id of that column."""


@dataclass(frozen=True, slots=True)
class HiddenColumn:
    """Values in a column of one of the fragment's files."""

    reader: ColumnReader
    place: Place

    def at(self, offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the values of the rows at ascending `offsets`. Raises CorruptPage for a null.

        `offsets` and the result (n,).
        """
        values = self.reader.take(offsets)
        if values.null_count:
            found = f"{values.null_count} nulls in a hidden column"
            raise CorruptPage("L.table.row-ids.column", self.place, found, "a value for each row")
        return np.asarray(values.to_numpy(), np.uint64)


Values: TypeAlias = RowIds | RowVersions | HiddenColumn
"""A value for each row of a fragment: `at` returns those of the rows at ascending offsets."""


def open_lineage(name: str, columns: FragmentReader, ctx: Context) -> Values | None:
    """Return the row ids or versions of a fragment, None when it has none. Raises CorruptPage."""
    (inline, column, hidden_id), message = STORED[name], columns.fragment.message
    place, rows = columns.fragment.place, columns.bounded_rows
    if message.HasField(column):
        reader = columns.hidden(hidden_id)
        if reader is not None:
            return HiddenColumn(reader, place)
        found = f"no file of fragment {message.id} with field {hidden_id}"
        raise CorruptPage("L.table.row-ids.column", place, found, "a hidden column")
    if not message.HasField(inline):
        return None
    decode = decode_row_ids if name == ROW_ID else decode_versions
    return decode(getattr(message, inline), rows, ctx, place)

"""Fragment session: rows of the same columns of a fragment, taken again and again (face)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from lanceref.table.rows import ROW_ADDRESS

from pylanceref.scan_arguments import Columns

if TYPE_CHECKING:
    from pylanceref.fragment_reading import FragmentReading


class FragmentSession:
    """Takes rows of the same columns of a fragment."""

    def __init__(self, fragment: FragmentReading, columns: Columns, with_address: bool) -> None:
        self._fragment = fragment
        self._columns: Columns = fragment.schema.names if columns is None else columns
        if with_address and isinstance(self._columns, Mapping):
            self._columns = {**self._columns, ROW_ADDRESS: ROW_ADDRESS}
        elif with_address:
            self._columns = [*self._columns, ROW_ADDRESS]

    def take(self, indices: Sequence[int] | pa.Array) -> pa.Table:
        """Return live rows by their position in the fragment. Raises RowNotFound."""
        return self._fragment.take(indices, self._columns)

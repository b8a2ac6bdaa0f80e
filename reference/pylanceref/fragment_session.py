"""Fragment session: rows of the same columns of a fragment, taken again and again (face)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
from lanceref.table.rows import ROW_ADDRESS

from pylanceref.scan_arguments import Columns

Take = Callable[[Sequence[int] | pa.Array, Columns], pa.Table]
"""Takes rows of a fragment by their positions, with the columns that are named."""


class FragmentSession:
    """Takes rows of the same columns of a fragment."""

    def __init__(
        self, take: Take, names: Sequence[str], columns: Columns, with_address: bool
    ) -> None:
        """Take all `names` where no columns are given."""
        self._take = take
        self._columns: Columns = names if columns is None else columns
        if with_address and isinstance(self._columns, Mapping):
            self._columns = {**self._columns, ROW_ADDRESS: ROW_ADDRESS}
        elif with_address:
            self._columns = [*self._columns, ROW_ADDRESS]

    def take(self, indices: Sequence[int] | pa.Array) -> pa.Table:
        """Return live rows by their position in the fragment. Raises RowNotFound."""
        return self._take(indices, self._columns)

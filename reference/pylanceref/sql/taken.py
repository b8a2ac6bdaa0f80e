"""Rows taken by position: their columns, or expressions over these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from lanceref.search.projection import take_projection
from lanceref.search.snapshot import Snapshot
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import ROW_OFFSET, SYSTEM_COLUMNS
from numpy.typing import NDArray

from pylanceref.sql.columns import bind_columns


def take_columns(
    snapshot: Snapshot,
    positions: NDArray[np.int64],
    columns: Sequence[str] | Mapping[str, str] | None,
) -> pa.Table:
    """Return rows at live positions of the table, in the order asked for. Raises NotFound."""
    schema = snapshot.schema(BlobHandling.DESCRIPTIONS)
    if not isinstance(columns, Mapping):
        return snapshot.take(positions, take_projection(schema, columns))
    system = (pa.field(one, pa.uint64(), nullable=one != ROW_OFFSET) for one in SYSTEM_COLUMNS)
    every = pa.schema([*schema.arrow, *system], schema.metadata or None)
    computed = bind_columns(columns, every)
    table = snapshot.take(positions, take_projection(schema, sorted(computed.paths)))
    batches = [computed.batch(batch) for batch in table.to_batches()]
    return pa.Table.from_batches(batches, schema=computed.schema)

"""New columns: expressions in SQL that become columns of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lanceref import operations
from lanceref.core.errors import EvolutionRefused, QueryRefused
from lanceref.search.snapshot import Snapshot
from lanceref.table.logical import BlobHandling

from pylanceref.sql.columns import bind_columns

if TYPE_CHECKING:
    from lanceref.operations.sources import ColumnSource


def computed_columns(snapshot: Snapshot, expressions: Mapping[str, str]) -> ColumnSource:
    """Return new columns of a table in SQL, by their names. Raises EvolutionRefused."""
    try:
        bound = bind_columns(expressions, snapshot.schema(BlobHandling.BYTES).arrow)
    except QueryRefused as error:
        raise EvolutionRefused(str(error)) from error
    return operations.sources.computed(snapshot, bound)

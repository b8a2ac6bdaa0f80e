"""Nearest scanner: the rows with the vectors nearest to one, or to each of several (face).

Rows have a distance, `_distance`, and of a batch of queries the number of the query first,
`query_index`. A filter is asked of the rows that were found, unless it is to be asked before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
from lanceref.file.schema import LanceSchema
from lanceref.index.vector.search_results import Neighbours
from lanceref.search.filter import Filter
from lanceref.search.row_ids import positions_of_ids
from lanceref.search.rows import Condition
from lanceref.search.snapshot import Snapshot
from lanceref.search.vector_query import VectorQuery
from lanceref.table.rows import FragmentRows

from pylanceref.scanner import ScanOptions
from pylanceref.search_scanner import FoundRows, SearchScanner, Shown

QUERY_INDEX = pa.field("query_index", pa.int32(), nullable=False)
DISTANCE = pa.field("_distance", pa.float32())
"""What a search knows of the rows it finds: the query, in a batch, and the distance from it."""


class Search(Protocol):
    """What finds the nearest rows."""

    @property
    def explained(self) -> Sequence[str]:
        """The steps of a plan, the last one first."""

    def nearest(self, condition: Condition | None) -> list[Neighbours]:
        """Return the rows of each query, the nearest first."""


class NearestScanner(SearchScanner):
    """A search for what is near that has been described but not run."""

    def __init__(
        self,
        snapshot: Snapshot,
        fragments: Sequence[FragmentRows],
        result: Shown,
        options: ScanOptions,
        search: Search,
        after: Filter | None,
    ) -> None:
        super().__init__(snapshot, fragments, result, options, after)
        self._search = search

    def found(self, limit: int | None, offset: int) -> FoundRows:
        """Return the nearest rows, those of each query together, or in the order asked for."""
        parts = self._search.nearest(self._options.condition)
        ids = np.concatenate([one.ids for one in parts])
        near = np.concatenate([one.distances for one in parts])
        numbers = np.repeat(np.arange(len(parts), dtype=np.int32), [len(one.ids) for one in parts])
        columns = {QUERY_INDEX.name: pa.array(numbers), DISTANCE.name: pa.array(near)}
        rows = FoundRows(positions_of_ids(self._snapshot, ids), columns)
        end = None if limit is None else offset + limit
        return self.reordered(self.passing(rows)).part(offset, end)

    def explain_plan(self, verbose: bool = False) -> str:
        """Return what is done to run the search, one step a line, the last one first."""
        options = self._options
        steps = [*self._search.explained]
        if options.condition is not None:
            steps += options.condition.explained(self._fragments)
        if self._after is not None:
            steps.insert(0, f"Filter: columns=[{', '.join(self._after.paths)}]")
        if options.order_by:
            keys = ", ".join(one.column_name for one in options.order_by)
            steps.insert(0, f"Sort: [{keys}]")
        if options.limit is not None or options.offset is not None:
            steps.insert(0, f"Limit: skip={options.offset or 0}, fetch={options.limit}")
        steps.insert(0, f"Projection: [{', '.join(self.projected_schema.names)}]")
        return "\n".join(f"{'  ' * depth}{step}" for depth, step in enumerate(steps)) + "\n"


def found_fields(query: VectorQuery) -> list[pa.Field]:
    """Return what a search for vectors adds to the columns of the rows."""
    return [QUERY_INDEX, DISTANCE] if query.batch else [DISTANCE]


def with_query_index(
    columns: Sequence[str] | Mapping[str, str] | None, schema: LanceSchema
) -> Sequence[str] | Mapping[str, str]:
    """Return the columns of a batch: the number of the query is always the first."""
    name = QUERY_INDEX.name
    if isinstance(columns, Mapping):
        return {name: name, **columns}
    asked = [field.name for field in schema.fields] if columns is None else columns
    return [name, *(one for one in asked if one != name)]

"""Log vector planner: the rows with the nearest vectors, of a table and of the flushed generations.

Each level, the table and every generation, is searched by its index; rows that no index covers are
not looked at, nor are those of a level whose index has another metric. What a level finds is left
out where a newer level of its shard has the key, of the table where any has. Rows that are equally
near stand in the order of the levels, the table first, and then of their ids. A row that says that
a key is deleted has no vector, so that it hides and is not found.

Has the names of pylance's `LsmVectorSearchPlanner` (face).

Clauses: L.index.mem-wal.newest
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import index

import numpy as np
import pyarrow as pa
from lanceref.core.errors import QueryRefused
from lanceref.core.slices import whole_rows
from lanceref.search.vector_query import METRIC_NAMES
from lanceref.table.rows import SYSTEM_COLUMNS

from pylanceref.dataset import LanceDataset
from pylanceref.lsm_planner import ExecutionPlan
from pylanceref.lsm_scanner import SYSTEM_FIELDS, chosen_keys, projected, row_keys
from pylanceref.nearest_scanner import DISTANCE
from pylanceref.shard_snapshot import ShardSnapshot
from pylanceref.sql.filter import bind_filter


@dataclass(frozen=True, slots=True)
class Level:
    """The table or a flushed generation, and the generations whose rows are newer."""

    dataset: LanceDataset
    newer: tuple[LanceDataset, ...]


class LsmVectorSearchPlanner:
    """Searches a column of vectors of floats. Raises ValueError, OperationRefused, QueryRefused."""

    def __init__(
        self,
        dataset: LanceDataset,
        shard_snapshots: Sequence[ShardSnapshot],
        vector_column: str,
        pk_columns: Sequence[str] | None = None,
        distance_type: str | None = None,
        filter: str | None = None,
    ) -> None:
        """Describe searches by a metric, "l2" where none is named, of rows that pass a filter.

        Of rows that are alike in `pk_columns`, the primary key where they are not given, the newest
        is looked for; where they are none all of them are.
        """
        schema = dataset.schema
        self._dataset, self._snapshots = dataset, list(shard_snapshots)
        self._keys = chosen_keys(schema, pk_columns)
        metric = "l2" if distance_type is None else distance_type.lower()
        if metric not in METRIC_NAMES:
            raise ValueError(
                f"Unknown distance_type '{distance_type}'. Valid values: 'l2', 'cosine', 'dot', "
                "'hamming'"
            )
        if vector_column not in schema.names:
            raise ValueError(f"Column '{vector_column}' not found in dataset schema")
        self._type = schema.field(vector_column).type
        if not pa.types.is_fixed_size_list(self._type):
            raise ValueError(f"Column '{vector_column}' is not a FixedSizeList (got {self._type})")
        if filter is not None:
            bind_filter(filter, schema)
        self._column, self._metric, self._filter = vector_column, METRIC_NAMES[metric], filter

    def plan_search(
        self,
        query: pa.Array,
        k: int = 10,
        nprobes: int = 20,
        columns: Sequence[str] | None = None,
        refine_base_table: bool = False,
        overfetch_factor: float = 1.0,
    ) -> ExecutionPlan:
        """Describe the search for the `k` rows nearest to a vector of float32.

        Distances are exact with `refine_base_table`, and where there is a generation. Of a level
        that is not the newest `overfetch_factor` times as many rows are looked for. Columns that
        are chosen come before the rest of the key, the distance last unless it is among them.
        Raises TypeError, ValueError, TableNotFound, and EditFailed for a column there is not.
        """
        _check(k, nprobes, overfetch_factor)
        nearest = {
            "column": self._column,
            "q": self._checked(query),
            "metric": self._metric,
            "nprobes": nprobes,
        }
        extra = [DISTANCE, *SYSTEM_FIELDS]
        schema = projected(self._dataset.schema, columns, self._keys, extra)
        if DISTANCE.name not in schema.names:
            schema = schema.append(DISTANCE)
        levels = self._levels()
        if refine_base_table or len(levels) > 1:
            nearest["refine_factor"] = 1

        def run() -> pa.Table:
            parts = [schema.empty_table()]
            for level in levels:
                count = math.ceil(k * overfetch_factor) if level.newer else k
                rows = self._found(level, {**nearest, "k": count}, schema)
                parts.append(rows.select(schema.names).cast(schema))
            rows = whole_rows(pa.concat_tables(parts))
            order = np.argsort(rows[DISTANCE.name].to_numpy(), kind="stable")
            return rows.take(pa.array(order[:k]))

        steps = [
            f"Projection: [{', '.join(schema.names)}]",
            f"Sort: TopK(fetch={k}), [{DISTANCE.name} ASC]",
            f"ANNSubIndex: column={self._column}, metric={self._metric}, num_levels={len(levels)}",
        ]
        return ExecutionPlan(schema, self._dataset.schema, steps, run)

    def _checked(self, query: pa.Array) -> pa.Array:
        """Return a vector of the column's size, 0 for what is null. Raises TypeError, ValueError.

        Raises QueryRefused where the vectors of the column are of bytes.
        """
        if not isinstance(query, pa.Array):
            raise TypeError(
                f"argument 'query': Expected instance of pyarrow.lib.Array, got {type(query)}"
            )
        if query.type != pa.float32():
            raise ValueError(
                "query must be a Float32Array. Use pa.array(values, type=pa.float32())"
            )
        if len(query) != self._type.list_size:
            raise ValueError(
                f"Query vector has {len(query)} dimensions, expected {self._type.list_size}"
            )
        if not pa.types.is_floating(self._type.value_type):
            raise QueryRefused(
                f"Column {self._column} has element type {self._type.value_type} and the query "
                "vector is Float32"
            )
        return query.fill_null(0)

    def _levels(self) -> list[Level]:
        """Return the table, and the generations as they are named. Raises TableNotFound."""
        found, every = [], []
        for snapshot in self._snapshots:
            tables = snapshot.opened(self._dataset)
            every += [table for _, table in tables]
            for generation, table in tables:
                newer = (other for later, other in tables if later > generation)
                found.append(Level(table, tuple(newer)))
        return [Level(self._dataset, tuple(every)), *found]

    def _found(self, level: Level, nearest: dict[str, object], schema: pa.Schema) -> pa.Table:
        """Return what a level finds and none that is newer has, with the columns of a schema."""
        if self._metric == "hamming":  # vectors of bytes have it: they have no query
            return schema.empty_table()
        own = level.dataset is self._dataset
        wanted = {*schema.names, *self._keys}.difference(SYSTEM_COLUMNS)
        rows = level.dataset.to_table(
            columns=list(wanted),
            nearest=nearest,
            filter=self._filter,
            prefilter=True,
            fast_search=True,
            with_row_id=own,
            with_row_address=own,
        )
        for one in SYSTEM_FIELDS:
            if one.name not in rows.schema.names:
                rows = rows.append_column(one, pa.nulls(rows.num_rows, pa.uint64()))
        hidden: set[tuple[object, ...]] = set()
        for table in level.newer:  # L.index.mem-wal.newest
            hidden.update(row_keys(table.to_table(columns=self._keys)))
        if not hidden:
            return rows
        seen = [key not in hidden for key in row_keys(rows.select(self._keys))]
        return whole_rows(rows).filter(pa.array(seen, pa.bool_()))


def _check(k: int, nprobes: int, overfetch_factor: float) -> None:
    if index(k) <= 0:
        raise ValueError(f"k must be positive, got {k}")
    if index(nprobes) <= 0:
        raise ValueError(f"nprobes must be positive, got {nprobes}")
    if not math.isfinite(overfetch_factor) or overfetch_factor < 1.0:
        raise ValueError(f"overfetch_factor must be finite and >= 1.0, got {overfetch_factor}")

"""Log planner: the newest row of a key, found in a table and in the flushed generations of its log.

Has the names of pylance's `LsmPointLookupPlanner` and `ExecutionPlan` (face).

Clauses: L.index.mem-wal.newest
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from lanceref.core.compute import pc
from lanceref.core.errors import EditFailed
from lanceref.core.slices import whole_rows

from pylanceref.dataset import LanceDataset
from pylanceref.lsm_scanner import LsmScanner, chosen_keys
from pylanceref.shard_snapshot import ShardSnapshot


class ExecutionPlan:
    """A search that has been described but not run."""

    def __init__(
        self,
        schema: pa.Schema,
        dataset_schema: pa.Schema,
        steps: Sequence[str],
        run: Callable[[], pa.Table],
    ) -> None:
        self._schema, self._dataset_schema = schema, dataset_schema
        self._steps, self._run = steps, run

    @property
    def schema(self) -> pa.Schema:
        """Schema of the result."""
        return self._schema

    @property
    def dataset_schema(self) -> pa.Schema:
        """Schema of the table."""
        return self._dataset_schema

    def explain(self) -> str:
        """Return what is done, one step a line, the last one first."""
        return "".join(f"{'  ' * depth}{step}\n" for depth, step in enumerate(self._steps))

    def to_table(self) -> pa.Table:
        """Return the rows that are found. Raises FormatError."""
        return self._run()

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the same as a reader."""
        return self.to_table().to_reader()

    def to_batches(self) -> list[pa.RecordBatch]:
        """Return the same as batches."""
        batches: list[pa.RecordBatch] = self.to_table().to_batches()
        return batches


class LsmPointLookupPlanner:
    """Looks up rows by their keys: the primary ones, or others that are named."""

    def __init__(
        self,
        dataset: LanceDataset,
        shard_snapshots: Sequence[ShardSnapshot],
        pk_columns: Sequence[str] | None = None,
    ) -> None:
        self._dataset, self._snapshots = dataset, list(shard_snapshots)
        self._keys = chosen_keys(dataset.schema, pk_columns)

    def plan_lookup(
        self, pk_value: pa.Array, columns: Sequence[str] | None = None
    ) -> ExecutionPlan:
        """Describe the search for a key: an array of one value, of several columns one struct.

        A number between two integers is no key. Raises TypeError, ValueError for other arrays,
        EditFailed for a value of another type and a column that there is not.
        """
        if not isinstance(pk_value, pa.Array):
            raise TypeError(
                f"argument 'pk_value': Expected instance of pyarrow.lib.Array, got {type(pk_value)}"
            )
        if len(pk_value) != 1:
            raise ValueError(f"pk_value must contain exactly one row, got {len(pk_value)}")
        scan = LsmScanner(self._dataset, self._snapshots, keys=self._keys)
        if columns is not None:
            scan.project(columns)
        key = self._key(pk_value)

        def run() -> pa.Table:
            rows = scan.to_table()
            found = np.ones(rows.num_rows, np.bool_)
            for name, value in key.items():
                same = pc.fill_null(pc.equal(rows[name], value), False)
                found &= np.asarray(same.to_numpy())
            return whole_rows(rows).filter(pa.array(found))

        steps = [
            f"Projection: [{', '.join(scan.projected_schema.names)}]",
            f"Filter: {', '.join(f'{name} = {value}' for name, value in key.items())}",
            f"LanceRead: num_generations={scan.num_generations}",
        ]
        return ExecutionPlan(scan.projected_schema, self._dataset.schema, steps, run)

    def _key(self, given: pa.Array) -> dict[str, pa.Scalar]:
        """Return the value of each column of the key. Raises ValueError, EditFailed."""
        parts = [given]
        if len(self._keys) != 1:
            if not pa.types.is_struct(given.type) or given.type.num_fields != len(self._keys):
                raise ValueError(
                    "Composite primary key lookup requires a StructArray with exactly one row and "
                    f"{len(self._keys)} fields"
                )
            for name in self._keys:
                if given.type.get_field_index(name) < 0:
                    raise ValueError(
                        f"Composite primary key lookup requires field '{name}' in pk_value"
                    )
            parts = [given.field(name) for name in self._keys]
        found = {}
        for name, part in zip(self._keys, parts, strict=True):
            wanted = self._dataset.schema.field(name).type
            try:
                between = pa.types.is_floating(part.type) and pa.types.is_integer(wanted)
                found[name] = part[0] if between else part.cast(wanted)[0]
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise EditFailed(f"Cast error: {error}") from error
        return found

"""Functions of batches that compute columns (face).

Has the names of pylance's `lance.udf`, but for checkpoints.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

Function = Callable[[pa.RecordBatch], object]


class BatchUDF:
    """A function of batches, and the schema of what it returns."""

    def __init__(self, func: Function, output_schema: pa.Schema | None = None) -> None:
        self.func = func
        self.output_schema = output_schema

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns for a batch; a data frame or table is taken too.

        Raises ValueError for a data frame without a schema, AssertionError for another schema.
        """
        found = self.func(batch)
        if isinstance(found, pa.Table):
            found = pa.RecordBatch.from_arrays(
                [column.combine_chunks() for column in found.columns], schema=found.schema
            )
        if not isinstance(found, pa.RecordBatch):
            if self.output_schema is None:
                raise ValueError(
                    "output_schema must be provided when using a function that returns a DataFrame"
                )
            found = pa.RecordBatch.from_pandas(found, schema=self.output_schema)
        if self.output_schema is not None and found.schema != self.output_schema:
            raise AssertionError(
                f"Output schema of function does not match the expected schema. "
                f"Expected:\n{self.output_schema}\nGot:\n{found.schema}"
            )
        return found


def batch_udf(output_schema: pa.Schema | None = None) -> Callable[[Function], BatchUDF]:
    """Make a function of batches one that can add columns, as a decorator."""
    return lambda func: BatchUDF(func, output_schema)

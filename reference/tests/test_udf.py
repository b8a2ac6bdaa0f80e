"""Functions of batches."""

import pyarrow as pa
import pytest
from lanceref.udf import batch_udf

from tests.edit.tables import column, table

SCHEMA = pa.schema({"t": pa.int64()})


def test_a_function_adds_a_column(tmp_path):
    """It returns a batch, a table or a data frame."""
    pd = pytest.importorskip("pandas")
    made = table(tmp_path)

    @batch_udf()
    def twice(batch):
        return pa.table({"t": [2 * one for one in batch["a"].to_pylist()]})

    @batch_udf(pa.schema({"u": pa.int64()}))
    def thrice(batch):
        return pd.DataFrame({"u": [3 * one for one in batch["a"].to_pylist()]})

    made.add_columns(twice, read_columns=["a"])
    made.add_columns(thrice, read_columns=["a"])
    assert [0, 4, 6] == column(made, "t")[:3]
    assert [0, 6, 9] == column(made, "u")[:3]


def test_the_schema_is_held_against_what_comes():
    """A data frame needs one; another one is an error."""
    batch = pa.record_batch({"a": [1]})
    with pytest.raises(ValueError, match="output_schema"):
        batch_udf()(lambda batch: batch.to_pylist())(batch)
    with pytest.raises(AssertionError, match="does not match"):
        batch_udf(SCHEMA)(lambda batch: batch)(batch)

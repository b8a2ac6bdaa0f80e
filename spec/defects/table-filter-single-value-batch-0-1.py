"""D.table.filter-single-value-batch-0-1: a filter of a 0.1 table is asked of the bounds of a
batch, and finds rows it denies."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
rows = pa.table({"b": [True, None, True]})
made = lance.write_dataset(rows, uri, data_storage_version="0.1")
expected = [True, True]  # a null of 0.1 reads as False
actual = made.to_table(filter="b")["b"].to_pylist()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

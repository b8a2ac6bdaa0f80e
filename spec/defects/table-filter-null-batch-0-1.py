"""D.table.filter-null-batch-0-1: a filter of a 0.1 table passes over batches of nulls, which read
as 0."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
rows = pa.table({"a": pa.array([None, None], pa.int64())})
made = lance.write_dataset(rows, uri, data_storage_version="0.1")
assert made.to_table()["a"].to_pylist() == [0, 0]
expected, actual = [0, 0], made.to_table(filter="a != 18")["a"].to_pylist()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

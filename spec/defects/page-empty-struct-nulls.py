"""D.page.empty-struct-nulls: a null struct without fields comes back as one that is valid."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
rows = pa.table({"c": [1, 2], "s": pa.array([{}, None], pa.struct([]))})
made = lance.write_dataset(rows, uri, data_storage_version="2.3")
expected = rows["s"].to_pylist()
actual = made.to_table(columns=["s"])["s"].to_pylist()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

"""D.query.not-in-either: a filter of two NOT IN returns rows whose value is null."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"x": [1, None, 3]}), uri)
expected = [1, 3]
actual = made.to_table(filter="x not in (1) or x not in (2)")["x"].to_pylist()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

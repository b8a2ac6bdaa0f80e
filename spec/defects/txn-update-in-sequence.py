"""D.txn.update-in-sequence: an update of two columns from each other copies one into both."""

import tempfile

import lance
import pyarrow as pa

made = lance.write_dataset(pa.table({"a": [1, 2, 3], "b": [10, 20, 30]}), tempfile.mkdtemp())
made.update({"a": "b", "b": "a"})
expected = {"a": [10, 20, 30], "b": [1, 2, 3]}
actual = lance.dataset(made.uri).to_table().to_pydict()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

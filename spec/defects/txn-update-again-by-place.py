"""D.txn.update-again-by-place: an update that is retried sets a column by its place."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
rows = pa.table({"k": [1, 2], "f": [10, 20], "g": [30, 40]})
lance.write_dataset(rows, uri)
held = lance.dataset(uri)
lance.dataset(uri).drop_columns(["k"])
expected = "refused"
try:
    held.update({"f": "k"})
    actual = lance.dataset(uri).to_table().to_pydict()
except BaseException:
    actual = "refused"
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

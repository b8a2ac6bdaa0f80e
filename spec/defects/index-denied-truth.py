"""D.index.denied-truth: with an index `not (c is false)` loses the rows where c is null."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
rows = pa.table({"k": [1, 2, 3], "c": [True, False, None]})
lance.write_dataset(rows, uri).create_scalar_index("c", "BITMAP")
found = lance.dataset(uri).to_table(filter="not (c is false)")["k"].to_pylist()
expected = [1, 3]
print(f"expected {expected}, actual {found}")
raise SystemExit(int(found != expected))

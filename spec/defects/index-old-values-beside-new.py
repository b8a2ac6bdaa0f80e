"""D.index.old-values-beside-new: an index of two segments finds rows by the values they had."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
rows = pa.table({"k": range(6)})
made = lance.write_dataset(rows, uri, max_rows_per_file=3, enable_stable_row_ids=True)
made.create_scalar_index("k", "BITMAP")
made.update({"k": "k + 10"}, where="k < 3")
made.optimize.optimize_indices(num_indices_to_merge=0)
expected = []
actual = lance.dataset(uri).to_table(filter="k in (0, 1, 2)")["k"].to_pylist()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

"""D.index.zonemap-only-nan: a zone map loses rows of a zone that holds NaN alone."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
rows = pa.table({"c": [float("nan")] * 3})
made = lance.write_dataset(rows, uri)
made.create_scalar_index("c", "ZONEMAP")
expected = made.count_rows(filter="c > 1.75")
made = lance.dataset(uri)
actual = made.to_table(filter="c > 1.75").num_rows
expected = made.to_table(filter="c > 1.75", use_scalar_index=False).num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

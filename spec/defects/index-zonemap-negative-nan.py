"""D.index.zonemap-negative-nan: a zone map loses rows whose NaN has a sign."""

import tempfile

import lance
import numpy as np
import pyarrow as pa

uri = tempfile.mkdtemp()
nan = np.array([0xFFF8000000000000], np.uint64).view(np.float64)[0]
made = lance.write_dataset(pa.table({"c": np.array([nan, 5.0, 6.0])}), uri)
made.create_scalar_index("c", "ZONEMAP")
made = lance.dataset(uri)
actual = made.to_table(filter="c < 0").num_rows
expected = made.to_table(filter="c < 0", use_scalar_index=False).num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

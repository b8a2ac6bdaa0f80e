"""D.query.zero-after-simplification: a comparison with a simplified zero finds the negative
zero."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"f": [0.0, -0.0], "g": [1.0, 1.0]}), uri)
found = [made.to_table(filter=one).num_rows for one in ("f = 0.0 + g - g", "f = coalesce(0.0, g)")]
expected, actual = found[0], found[1]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

"""D.query.not-in-or-zero: NOT IN or a comparison with zero returns rows whose value is null."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"f": [1.5, None, 0.5]}), uri)
condition = "f not in (1.5, 2.5) or f != 0.0"
expected, actual = [1.5, 0.5], made.to_table(filter=condition)["f"].to_pylist()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

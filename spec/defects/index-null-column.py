"""D.index.null-column: indices over a column of nulls alone do not find them."""

import tempfile

import lance
import pyarrow as pa
from lance.indices import IndexConfig

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"c": pa.nulls(3)}), uri)
made.create_scalar_index("c", IndexConfig("btree", {}))
made = lance.dataset(uri)
expected = made.to_table(filter="c IS NULL", use_scalar_index=False).num_rows
actual = made.to_table(filter="c IS NULL").num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

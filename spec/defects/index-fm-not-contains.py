"""D.index.fm-not-contains: NOT contains through an FM index returns rows that are null."""

import tempfile

import lance
import pyarrow as pa
from lance.indices import IndexConfig

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"s": ["ana", None, "b", "a\0b", "a b"]}), uri)
made.create_scalar_index("s", IndexConfig("fm", {}))
made, text = lance.dataset(uri), "not contains(s, 'ana')"
expected = made.to_table(filter=text, use_scalar_index=False).num_rows
actual = made.to_table(filter=text).num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

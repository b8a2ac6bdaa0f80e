"""D.index.fm-after-deferred: an FM index loses the rows that a deferred compaction moved."""

import tempfile

import lance
import pyarrow as pa
from lance.indices import IndexConfig

table = pa.table({"k": range(20), "w": ["the cat"] * 20})
made = lance.write_dataset(table, tempfile.mkdtemp())
made.create_scalar_index("w", IndexConfig("fm", {}))
made.delete("k < 5")
made = lance.write_dataset(table, made.uri, mode="append")
made.optimize.compact_files(target_rows_per_fragment=100, defer_index_remap=True)
actual = lance.dataset(made.uri).to_table(filter="contains(w, 'the')").num_rows
print(f"expected 35, actual {actual}")
raise SystemExit(int(actual != 35))

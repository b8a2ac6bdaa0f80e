"""D.index.compaction-after-deferred: a compaction after a deferred one drops rows from an
index."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"f": range(32)}), uri, max_rows_per_file=8)
made.create_scalar_index("f", "BTREE")
first = {"target_rows_per_fragment": 16, "num_threads": 1, "defer_index_remap": True}
lance.dataset(uri).delete("f = 100")
lance.dataset(uri).optimize.compact_files(**first)
lance.dataset(uri).optimize.compact_files(target_rows_per_fragment=64)
made = lance.dataset(uri)
expected, actual = 32, made.to_table(filter="f >= 0").num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

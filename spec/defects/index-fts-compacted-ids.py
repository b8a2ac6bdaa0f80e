"""D.index.fts-compacted-ids: a text search with a limit counts rows that a compaction dropped."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
table = pa.table({"i": range(4), "s": ["cat cat", "dog", "cat", "fox cat"]})
lance.write_dataset(table, uri, enable_stable_row_ids=True)
lance.dataset(uri).create_scalar_index("s", "INVERTED")
lance.dataset(uri).delete("i = 0")
lance.dataset(uri).optimize.compact_files()
expected = 1
actual = lance.dataset(uri).to_table(full_text_query="cat", limit=1).num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

"""D.index.fts-replaced-texts: a text search finds rows by the text they had before an update."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
table = pa.table({"i": range(4), "s": ["cat", "dog", "cat", "fox"]})
lance.write_dataset(table, uri, enable_stable_row_ids=True)
lance.dataset(uri).create_scalar_index("s", "INVERTED")
lance.dataset(uri).update({"s": "'bird'"}, "i = 2")
lance.dataset(uri).optimize.optimize_indices(num_indices_to_merge=0)
expected = ["cat"]
actual = lance.dataset(uri).to_table(full_text_query="cat")["s"].to_pylist()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

"""D.index.fts-null-texts: a multi-match with a limit takes null for an empty text."""

import tempfile

import lance
import lance.query
import pyarrow as pa

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"s": ["a", "b"]}), uri)
made.create_scalar_index("s", "INVERTED", base_tokenizer="raw", stem=False)
made.insert(pa.table({"s": ["a", "", None]}))
query = lance.query.MultiMatchQuery("", ["s"])
expected = [""]
actual = lance.dataset(uri).to_table(full_text_query=query, limit=5)["s"].to_pylist()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

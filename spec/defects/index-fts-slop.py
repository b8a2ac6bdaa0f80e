"""D.index.fts-slop: a phrase with slop misses documents that the exact phrase finds."""

import tempfile

import lance
import lance.query
import pyarrow as pa

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"s": ["a b a", "b a"]}), uri)
made.create_scalar_index("s", "INVERTED", with_position=True, remove_stop_words=False)
counts = []
for slop in (0, 1):
    query = lance.query.PhraseQuery("a b a", "s", slop=slop)
    counts.append(lance.dataset(uri).to_table(full_text_query=query).num_rows)
expected, actual = counts
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

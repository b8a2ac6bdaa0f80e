"""D.index.fts-stop-words-after-stemming: stop words are compared with stems: `very` is indexed,
`having` is not."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"s": ["very"]}), uri)
made.create_scalar_index("s", "INVERTED", stem=True, remove_stop_words=True)
expected = 0  # a stop word of English
actual = lance.dataset(uri).to_table(full_text_query="very").num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

"""D.index.fts-json-compound: a compound query with a limit fails on JSON outside of the index."""

import tempfile

import lance
import pyarrow as pa
from lance.query import BoostQuery, MatchQuery

uri = tempfile.mkdtemp()
rows = pa.table({"j": pa.array(['{"a":"word"}', '{"a":"other"}'], pa.json_())})
dataset = lance.write_dataset(rows, uri)
dataset.create_scalar_index("j", "INVERTED")
dataset.insert(rows)
words = [MatchQuery(f"a,str,{word}", "j") for word in ("word", "other")]
expected = 1
try:
    found = len(dataset.to_table(full_text_query=BoostQuery(*words), limit=1))
except (OSError, ValueError) as error:
    found = str(error)[:90]
print(f"expected {expected}, actual {found}")
raise SystemExit(int(found != expected))

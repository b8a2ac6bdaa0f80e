"""D.index.json-path-text: a JSON index is asked for a member by the spelling of its path."""

import tempfile

import lance
import pyarrow as pa
from lance.indices import IndexConfig

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"j": pa.array(['{"a":5}', "{}"], pa.json_())}), uri)
parameters = {"target_index_type": "btree", "path": "$.a"}
made.create_scalar_index("j", IndexConfig("json", parameters))
made, text = lance.dataset(uri), "json_get_int(j, '$.a') = 5"
expected = made.to_table(filter=text, use_scalar_index=False).num_rows
actual = made.to_table(filter=text).num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

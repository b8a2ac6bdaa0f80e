"""D.index.json-stable-zones: zones of JSON values lose rows of tables with stable row ids."""

import tempfile

import lance
import pyarrow as pa
from lance.indices import IndexConfig

uri = tempfile.mkdtemp()
table = pa.table({"j": pa.array(['{"a":1}', '{"a":2}', '{"a":1}', '{"a":1}'], pa.json_())})
options = {"max_rows_per_file": 2, "enable_stable_row_ids": True}
made = lance.write_dataset(table, uri, data_storage_version="2.2", **options)
config = IndexConfig("json", {"target_index_type": "zonemap", "path": "a"})
made.create_scalar_index("j", config)
made = lance.dataset(uri)
asked = {"filter": "json_get_int(j, 'a') = 1"}
expected = made.to_table(**asked, use_scalar_index=False).num_rows
actual = made.to_table(**asked).num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

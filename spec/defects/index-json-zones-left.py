"""D.index.json-zones-left: a compaction of rows with stable ids loses rows of JSON in zones."""

import json
import tempfile

import lance
import pyarrow as pa
from lance.indices import IndexConfig

uri = tempfile.mkdtemp()
documents = [json.dumps({"a": number % 17}) for number in range(100)]
table = pa.table({"id": range(100), "j": pa.array(documents, pa.json_())})
options = {"max_rows_per_file": 25, "enable_stable_row_ids": True}
made = lance.write_dataset(table, uri, data_storage_version="2.2", **options)
config = IndexConfig("json", {"target_index_type": "zonemap", "path": "a"})
made.create_scalar_index("j", config)
made.optimize.compact_files()
made = lance.dataset(uri)
asked = {"filter": "json_get_int(j, 'a') > 5"}
expected = made.to_table(**asked, use_scalar_index=False).num_rows
actual = made.to_table(**asked).num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

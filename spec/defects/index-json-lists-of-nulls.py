"""D.index.json-lists-of-nulls: a JSON index of nulls alone refuses a list of integers."""

import tempfile

import lance
import pyarrow as pa
from lance.indices import IndexConfig

documents = pa.array([None, "{}"], pa.json_())
made = lance.write_dataset(pa.table({"j": documents}), tempfile.mkdtemp())
member = {"target_index_type": "btree", "path": "a"}
made.create_scalar_index("j", IndexConfig("json", member))
actual = "no rows"
try:
    lance.dataset(made.uri).to_table(filter="json_get_int(j, 'a') not in (1, 2)")
except (OSError, ValueError) as error:
    actual = f"refused: {error}"
print(f"expected no rows, actual {actual[:70]}")
raise SystemExit(int(actual != "no rows"))

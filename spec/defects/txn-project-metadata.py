"""D.txn.project-metadata: dropping a column by an old handle removes schema metadata that was set
meanwhile."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
lance.write_dataset(pa.table({"a": [1], "b": [2]}), uri)
held = lance.dataset(uri)
lance.dataset(uri).update_schema_metadata({"k": "v"})
held.drop_columns(["b"])
expected, actual = {b"k": b"v"}, lance.dataset(uri).schema.metadata
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

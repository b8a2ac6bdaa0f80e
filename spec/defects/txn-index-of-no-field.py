"""D.txn.index-of-no-field: an index of a field that the schema does not have is committed."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
made = lance.write_dataset(pa.table({"a": [1], "b": [2]}), uri)
made.create_scalar_index("b", "BTREE")
entry = lance.LanceDataset.read_transaction(lance.dataset(uri), 2).operation.new_indices[0]
lance.dataset(uri).drop_columns(["b"])
operation = lance.LanceOperation.CreateIndex(new_indices=[entry], removed_indices=[])
expected = "refused"
try:
    lance.LanceDataset.commit(uri, operation, read_version=3)
    actual = "committed"
except OSError:
    actual = "refused"
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

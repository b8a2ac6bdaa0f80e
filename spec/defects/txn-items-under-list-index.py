"""D.txn.items-under-list-index: an index on a list still finds items that an update of columns
replaced."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
rows = pa.table({"k": range(2), "l": [["a"], ["b"]]})
made = lance.write_dataset(rows, uri)
made.create_scalar_index("l", "LABEL_LIST")
source = pa.table({"k": [0], "l": [["z"]]})
fragment, fields = lance.dataset(uri).get_fragment(0).update_columns(source, "k", "k")
update = lance.LanceOperation.Update(updated_fragments=[fragment], fields_modified=fields)
made = lance.LanceDataset.commit(uri, update, read_version=2)
expected = made.to_table(filter="array_has(l, 'a')", use_scalar_index=False).num_rows
actual = made.to_table(filter="array_has(l, 'a')").num_rows
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

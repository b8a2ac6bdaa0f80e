"""D.legacy.first-given-up: an update of the first column of a 0.1 file makes the table
unreadable."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
rows = pa.table({"k": range(5), "i": range(5)})
made = lance.write_dataset(rows, uri, data_storage_version="0.1")
source = pa.table({"i": [1, 2], "k": [50, 60]})
fragment, fields = made.get_fragment(0).update_columns(source, "i", "i")
update = lance.LanceOperation.Update(updated_fragments=[fragment], fields_modified=fields)
lance.LanceDataset.commit(uri, update, read_version=1)
expected = [0, 50, 60, 3, 4]
try:
    actual = lance.dataset(uri).to_table()["k"].to_pylist()
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

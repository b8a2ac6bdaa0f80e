"""D.table.merged-vector-null-0-1: a merge leaves a value of another row where a 0.1 vector is not
given."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
vectors = pa.array([[1.0, 1.0], [2.0, 2.0]], pa.list_(pa.float32(), 2))
rows = pa.table({"k": [1, 2], "v": vectors})
made = lance.write_dataset(rows, uri, data_storage_version="0.1")
source = pa.table({"k": [1, 3]})
made.merge_insert("k").when_matched_update_all().when_not_matched_insert_all().execute(source)
found = lance.dataset(uri).to_table(filter="k = 3")["v"].to_pylist()
expected, actual = [[0.0, 0.0]], found
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

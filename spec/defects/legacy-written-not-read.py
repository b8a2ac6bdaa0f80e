"""D.legacy.written-not-read: a 0.1 table is written that cannot be read: items of lists not
called `item`."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
type_ = pa.list_(pa.field("element", pa.int32()))
rows = pa.table({"l": pa.array([[1], [2]], type_)})
lance.write_dataset(rows, uri, data_storage_version="0.1")
expected = [[1], [2]]
try:
    actual = lance.dataset(uri).to_table()["l"].to_pylist()
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

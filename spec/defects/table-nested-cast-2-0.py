"""D.table.nested-cast-2-0: a cast of a field of a struct makes a 2.0 table unreadable."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
rows = pa.table({"n": [{"x": 1, "y": 2}]})
made = lance.write_dataset(rows, uri, data_storage_version="2.0")
made.alter_columns({"path": "n.x", "data_type": pa.int32()})
expected = [{"x": 1, "y": 2}]
try:
    actual = lance.dataset(uri).to_table()["n"].to_pylist()
except BaseException as error:
    actual = str(error)[:70]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

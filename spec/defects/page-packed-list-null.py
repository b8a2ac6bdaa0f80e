"""D.page.packed-list-null: a list that asks to be packed is read as null."""

import tempfile

import lance
import pyarrow as pa

uri = tempfile.mkdtemp()
field = pa.field("c", pa.list_(pa.int32()), metadata={"lance-encoding:packed": "true"})
rows = pa.table([pa.array([[1, 2], [3]], field.type)], schema=pa.schema([field]))
made = lance.write_dataset(rows, uri, data_storage_version="2.1")
expected = rows["c"].to_pylist()
actual = made.to_table()["c"].to_pylist()
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

"""D.page.packed-numbers-inside: a packed struct with a struct of numbers in it is not written."""

import tempfile

import lance
import pyarrow as pa

value = {"a": 1, "inside": {"b": 2, "c": 3}}
type_ = pa.struct({"a": pa.int32(), "inside": pa.struct({"b": pa.int32(), "c": pa.int32()})})
field = pa.field("s", type_, metadata={"lance-encoding:packed": "true"})
rows = pa.table([pa.array([value], type_)], schema=pa.schema([field]))
expected = [value]
try:
    table = lance.write_dataset(rows, tempfile.mkdtemp(), data_storage_version="2.2")
    actual = table.to_table()["s"].to_pylist()
except OSError as error:
    actual = f"{error}"[:90]
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))

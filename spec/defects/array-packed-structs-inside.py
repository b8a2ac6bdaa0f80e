"""D.array.packed-structs-inside: a packed struct with a struct in it is written and not read."""

import tempfile

import lance
import pyarrow as pa

value = {"a": 1, "inside": {"b": 2, "c": 3}}
type_ = pa.struct({"a": pa.int32(), "inside": pa.struct({"b": pa.int32(), "c": pa.int32()})})
field = pa.field("s", type_, metadata={"lance-encoding:packed": "true"})
rows = pa.table([pa.array([value], type_)], schema=pa.schema([field]))
expected = [value]
try:
    table = lance.write_dataset(rows, tempfile.mkdtemp(), data_storage_version="2.0")
    actual = table.to_table()["s"].to_pylist()
except OSError:  # refused when it is written
    actual = expected
except BaseException as error:
    actual = f"{type(error).__name__}: {str(error)[:90]}"
print(f"expected {expected}, actual {actual}")
raise SystemExit(int(actual != expected))
